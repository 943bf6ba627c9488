"""Tasks as the workers leave them, in every state. Nobody drives them."""

import io
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from itertools import islice
from typing import Any

from django.utils import timezone
from PIL import Image

from agents import api, schedules
from agents.examples import EXAMPLES
from agents.models import ENDED, Branch, Document, Run, State
from agents.standing import Firing, Schedule
from godhand_web.models import User
from sandboxes.models import Event, Machine
from sandboxes.models import State as MachineState
from traces.events import Actor, Change, Finding, Outcome, Recorder, Sent
from traces.invented.scenery import Scene, scenes
from traces.models import Trace
from traces.payloads import Sha256, UsageData
from traces.queries import head_of
from traces.recorder import DatabaseRecorder

GOAL = EXAMPLES["chart"].goal
QUESTION = "The portal asks for a two-factor code. What is it?"
USAGE: UsageData = {"input": 1200, "output": 180, "cache_read": 5400, "cache_write": 300}
READY = (State.RUNNING, State.PAUSED, State.NEEDS_HELP)


def run_in(owner: User, state: State, *, goal: str = GOAL, steps: int = 6, **more: Any) -> Run:
    """A run that has made so many steps and is in that state."""
    example = EXAMPLES["chart"]
    run = api.submit(
        owner,
        goal,
        provider="scripted",
        options={"script": "chart"},
        **{"checks": example.checks, "attachments": example.attachments(), **more},
    )
    branch = run.branches.get()
    if state not in (State.QUEUED, State.PROVISIONING):
        tell(run, steps, open_end=state == State.RUNNING)
    machine = None if state == State.QUEUED else machine_of(branch, state)
    settle(branch, state, machine)
    if state in (State.SUCCEEDED, State.FAILED):
        finish(branch, passed=state == State.SUCCEEDED)
    run.refresh_from_db()
    return run


def child_of(run: Run, state: State, name: str = "b1") -> Branch:
    """Another branch of it in that state, with a machine of its own; its first goes on as it was."""
    main = run.branches.get(parent=None)
    kept = {"state": run.state, "ended_at": run.ended_at}
    child = Branch.objects.create(run=run, name=name, parent=main)
    settle(child, state, machine_of(child, state))
    Run.objects.filter(pk=run.pk).update(**kept)
    return child


def machine_of(branch: Branch, state: State) -> Machine:
    now = MachineState.BOOTING if state == State.PROVISIONING else MachineState.READY
    made = Machine.objects.create(
        name=f"{branch.run_id}-{branch.name}",
        owner=branch.run.task.owner,
        backend="gvisor",
        image="desktop",
        host="here",
        state=MachineState.DESTROYED if state in ENDED else now,
        created_at=timezone.now() - timedelta(seconds=190),
    )
    for reached in (MachineState.QUEUED, MachineState.BOOTING, now):
        Event.objects.create(machine=made, state=reached, text=f"Became {reached}", at=made.created_at)
    return made


def settle(branch: Branch, state: State, machine: Machine | None) -> None:
    since = timezone.now() - timedelta(seconds=41)
    words = {
        State.PAUSED: "Somebody paused it.",
        State.NEEDS_HELP: "A person is asked for.",
        State.FAILED: "The limit of 6 steps is reached.",
        State.CANCELLED: "Somebody cancelled it.",
        State.INFRA_ERROR: "The model's service gave no reply: it answered 529 five times.",
    }
    columns = {"state": state, "state_since": since, "detail": words.get(state, ""), "machine": machine}
    question = QUESTION if state == State.NEEDS_HELP else ""
    Branch.objects.filter(pk=branch.pk).update(question=question, seconds=127, **columns)
    ended = timezone.now() if state in ENDED else None
    Run.objects.filter(pk=branch.run_id).update(state=state, ended_at=ended)
    Trace.objects.filter(pk=branch.run.trace_id).update(state=state, ended_at=ended)
    branch.refresh_from_db()


def tell(run: Run, steps: int, *, open_end: bool) -> None:
    recorder: Recorder = DatabaseRecorder(run.trace, "main", lambda: None, None)
    shown = _kept(recorder, pictures()[0][1])
    parts: Any = ({"text": run.task.goal}, {"picture": shown})
    recorder.message(Actor.HUMAN, run.task.goal, turn=0, parts=parts, name="goal")
    for number, (scene, picture) in enumerate(islice(pictures(), 1, steps + 1), 1):
        call: Any = {"id": f"call_{number}", "name": scene.name, "input": scene.given, "toolset": "computer"}
        replied = recorder.reply(
            None,
            turn=number,
            text=f"I go on with the table, row {number}.",
            reasoning=scene.thought,
            usage=USAGE,
            cost=0.0125,
            provider="scripted",
            model="Chart",
            calls=[call],
        )
        recorder.intent(replied.actions[0], f"op{number}", scene.act)
        if open_end and number == steps:
            return
        before, shown = shown, _kept(recorder, picture)
        sent, change = Sent("OK", shown), Change(0.02, [scene.box] if scene.box else [])
        recorder.done(
            replied.actions[0], ok=True, text="OK", sent=sent, before=before, after=shown, change=change, settle_ms=180
        )


def finish(branch: Branch, *, passed: bool) -> None:
    recorder = recorder_of(branch)
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    names = [check["name"] for check in branch.run.task.checks]
    kinds = [check["kind"] for check in branch.run.task.checks]
    found = [
        Finding(name, kind, outcome, "Sales!B8 = 8060.", "Sales!B8 = 8061." if outcome == Outcome.FAILED else "")
        for name, kind in zip(names, kinds, strict=True)
    ]
    if found:
        recorder.verify(found, "done")
    claim = "sales.xlsx has the rows of sales.csv, a line of totals and a chart."
    Branch.objects.filter(pk=branch.pk).update(claim=claim)
    deliver(branch, "sales.xlsx", b"PK a workbook")


def deliver(branch: Branch, name: str, data: bytes, media_type: str = "application/vnd.ms-excel") -> str:
    recorder = recorder_of(branch)
    sha256 = recorder.blob(data, media_type)
    recorder.file(name=name, path=f"/home/agent/{name}", direction="out", sha256=sha256)
    Document.objects.create(
        branch=branch, name=name, title="", path=f"/home/agent/{name}", sha256=sha256, media_type=media_type,
        size=len(data),
    )  # fmt: skip
    return sha256


def recorder_of(branch: Branch) -> Recorder:
    head = head_of(branch.run.trace_id, branch.name)
    return DatabaseRecorder(branch.run.trace, branch.name, lambda: None, head)


@cache
def pictures() -> list[tuple[Scene, bytes]]:
    return list(_pictures(16))


def _pictures(count: int) -> Iterator[tuple[Scene, bytes]]:
    for scene in islice(scenes(7), count):
        out = io.BytesIO()
        assert scene.image
        scene.image.save(out, "WEBP", quality=70)
        yield scene, out.getvalue()


def _kept(recorder: Recorder, data: bytes) -> Sha256:
    with Image.open(io.BytesIO(data)) as image:
        return recorder.picture(data, "image/webp", *image.size, exact=True)


def a_step(branch: Branch) -> None:
    """One more, as a worker would write it."""
    recorder = recorder_of(branch)
    call: Any = {"id": "call_more", "name": "bash", "input": {"command": "echo fresh"}, "toolset": ""}
    replied = recorder.reply(
        None, turn=99, text="One more.", reasoning="", usage=USAGE, cost=0.5, provider="scripted", model="Chart",
        calls=[call],
    )  # fmt: skip
    recorder.intent(replied.actions[0], "op_more", {})
    seen = _kept(recorder, pictures()[-1][1])
    recorder.done(replied.actions[0], ok=True, text="OK", sent=Sent("OK", seen), before=seen, after=seen)


def schedule_of(owner: User, *, wording: str = "every weekday at 9:00", zone: str = "Europe/Berlin") -> Schedule:
    """With a run that ended well, one that is going, and moments that were skipped and missed."""
    task = run_in(owner, State.SUCCEEDED, steps=2).task
    schedule = schedules.make(task, wording, zone, name="Morning report")
    for days, outcome in enumerate(("missed", "started", "skipped", "failed"), 1):
        due = timezone.now() - timedelta(days=5 - days)
        run = None if outcome in ("missed", "failed") else task.runs.first()
        detail = {"missed": "The installation was down.", "failed": "The snapshot is gone."}.get(outcome, "")
        Firing.objects.create(schedule=schedule, outcome=outcome, due_at=due, times=days, run=run, detail=detail)
    return schedule


def of_every_kind(owner: User, hostile: str) -> dict[str, tuple[str, str]]:
    """The ids of task and run of one in every state, of one with several runs, and of one full of hostile text."""
    runs = {state.value: run_in(owner, state, steps=9) for state in State}
    runs["many"] = run_in(owner, State.SUCCEEDED, goal="Try three ways to lay out the poster.", steps=2)
    api.start(runs["many"].task)
    runs["hostile"] = run_in(owner, State.NEEDS_HELP, goal=hostile, attachments={"a.csv": hostile.encode()})
    deliver(runs["succeeded"].branches.get(), "notes.md", b"# Sales\n\nNorth grew.\n", "text/markdown")
    deliver(runs["succeeded"].branches.get(), "chart.webp", pictures()[3][1], "image/webp")
    recurring = {"schedule": (schedule_of(owner).pk, "")}
    return {name: (run.task_id, run.pk) for name, run in runs.items()} | recurring
