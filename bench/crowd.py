"""A database that has seen some years of work: 1,000 tasks with their traces, 10,000 machines."""

from datetime import timedelta
from typing import Any

TASKS, MACHINES = 1_000, 10_000
STEPS = 5


def settle(owner: Any, tasks: int = TASKS, machines: int = MACHINES) -> None:
    """Nothing of it is under way: workers would take it up."""
    from django.db import transaction

    with transaction.atomic():
        _machines(owner, machines)
        _tasks(owner, tasks)


def _machines(owner: Any, count: int) -> None:
    from django.utils import timezone

    from sandboxes.models import Event, Machine, State

    ends = (State.DESTROYED,) * 17 + (State.FAILED, State.LOST, State.STOPPED)
    now = timezone.now()
    rows = [
        Machine(
            name=f"machine-{number}",
            owner=owner,
            backend="gvisor",
            image="desktop",
            host="elsewhere",
            state=ends[number % len(ends)],
            created_at=now - timedelta(minutes=number),
        )
        for number in range(count)
    ]
    Machine.objects.bulk_create(rows, batch_size=500)
    told = (Event(machine=row, state=row.state, text=f"Became {row.state}", at=row.created_at) for row in rows)
    Event.objects.bulk_create(told, batch_size=500)


def _tasks(owner: Any, count: int) -> None:
    from django.utils import timezone

    from agents.models import Branch, Run, State, Task
    from traces.models import Trace

    states = (State.SUCCEEDED,) * 12 + (State.FAILED,) * 4 + (State.CANCELLED, State.INFRA_ERROR, State.PAUSED)
    now = timezone.now()
    made = []
    for number in range(count):
        state, at = states[number % len(states)], now - timedelta(minutes=7 * number)
        ended = None if state == State.PAUSED else at + timedelta(minutes=5)
        facts = {"goal": f"Sort the invoices of day {number} and say which are due.", "image": "desktop"}
        task = Task(owner=owner, provider="scripted", options={"script": "chart"}, created_at=at, **facts)
        trace = Trace(
            owner=owner, title=facts["goal"], state=state, created_at=at, ended_at=ended, steps=STEPS, cost=0.1,
            next_seq=STEPS + 1, revision=STEPS,
        )  # fmt: skip
        run = Run(task=task, trace=trace, state=state, created_at=at, ended_at=ended)
        made.append((task, trace, run, Branch(run=run, state=state, state_since=at, created_at=at)))
    tasks, traces, runs, branches = zip(*made, strict=True)
    Task.objects.bulk_create(tasks, batch_size=500)
    Trace.objects.bulk_create(traces, batch_size=500)
    Run.objects.bulk_create(runs, batch_size=500)
    Branch.objects.bulk_create(branches, batch_size=500)
    _events(list(traces))


def _events(traces: list[Any]) -> None:
    """A line of steps for each, which end with a picture that was thrown away long ago."""
    from traces.models import Event

    last: dict[str, Any] = {}
    for seq in range(1, STEPS + 1):
        rows = [
            Event(
                trace=trace, seq=seq, revision=seq, branch="main", parent=last.get(trace.pk), actor="agent",
                kind="action", turn=seq, name="bash", data={"input": {"command": "ls"}}, fate="done", ok=True,
                after=f"{seq:064x}", started_at=trace.created_at, ended_at=trace.created_at, mono_ms=seq,
            )
            for trace in traces
        ]  # fmt: skip
        Event.objects.bulk_create(rows, batch_size=500)
        last = {row.trace_id: row for row in rows}
