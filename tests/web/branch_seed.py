"""A run with four branches, as the workers leave it. Run as a program in the environment of a `Site`."""

import json
import os
import sys
from collections.abc import Sequence

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from agents import api, lifecycle  # noqa: E402
from agents.models import ENDED, Branch, Run, State  # noqa: E402
from godhand_web.models import User  # noqa: E402
from sandboxes.ids import new_id  # noqa: E402
from sandboxes.models import Machine, Snapshot  # noqa: E402
from sandboxes.models import State as MachineState  # noqa: E402
from tests.web.trace_seed import HOSTILE, RIGHT, SAVED, TOTAL, Story, screen  # noqa: E402
from traces.events import Actor, Finding, Kind  # noqa: E402
from traces.payloads import EventId  # noqa: E402

CHECKS = [
    {"name": "total_row", "kind": "screen_text", "text": "4,210"},
    {"name": "saved", "kind": "file_exists", "path": "report.csv"},
]
PLAN = {"stop": "all", "judge": False}


def machine_of(branch: Branch, state: MachineState) -> Machine:
    made = Machine.objects.create(
        name=f"{branch.run_id}-{branch.name}", owner=branch.run.task.owner, backend="gvisor", image="desktop",
        host="here", state=state,
    )  # fmt: skip
    Branch.objects.filter(pk=branch.pk).update(machine=made)
    branch.machine = made
    return made


def saved(story: Story, machine: Machine, label: str, size: int = 312 * 2**20) -> tuple[Snapshot, EventId]:
    row = Snapshot.objects.create(
        id=new_id(), owner=machine.owner, machine=machine, label=label, backend="gvisor", image="desktop",
        image_digest="ab" * 32, host="here", keeps="disk+memory", size=size,
    )  # fmt: skip
    event = story.recorder.snapshot(
        snapshot=row.pk, backend="gvisor", keeps="disk+memory", size=row.size, ms=210, label=label
    )
    return row, event


def deliver(story: Story, name: str, data: bytes, media_type: str = "text/csv") -> None:
    sha256 = story.recorder.blob(data, media_type)
    story.recorder.file(name=name[-60:], path=f"/home/agent/{name}", direction="out", sha256=sha256)


def ended(branch: Branch, state: State, findings: Sequence[Finding], **columns: object) -> None:
    verdict = {"passed": state == State.SUCCEEDED, "findings": {one.name: {"outcome": one.outcome} for one in findings}}
    columns = {"claim": "The report is written.", "verdict": verdict, **columns}
    Branch.objects.filter(pk=branch.pk).update(state=state, state_since=timezone.now(), **columns)


def child(main: Branch, name: str, after: EventId, origin: Snapshot, hint: str) -> tuple[Branch, Story]:
    made = Branch.objects.create(
        run=main.run, name=name, parent=main, forked_at=after, snapshot=origin, hint=hint, created_at=timezone.now()
    )
    story = Story(main.run.trace, name, after)
    story.recorder.message(Actor.SYSTEM, f"Go on from here this way: {hint}", turn=0, name="hint")
    return made, story


def branched(owner: User, *, goes_on: bool = False) -> Run:
    """main fails; of three branches from its third step one fails, the second is chosen, the third is cancelled.

    When it `goes_on`, the third runs and nothing is chosen yet.
    """
    run = api.submit(
        owner, "Write the report of the quarter.", provider="scripted", options={"script": "chart"}, checks=CHECKS,
        plan=PLAN,
    )  # fmt: skip
    main = run.branches.get()
    story = Story(run.trace)
    story.recorder.message(Actor.HUMAN, run.task.goal, turn=0, name="goal")
    for number in range(3):
        story.click(300 + 40 * number, 200, screen(1, f"row {number}"))
    origin, fork = saved(story, machine_of(main, MachineState.DESTROYED), "after 3 steps")
    for number in range(3, 6):
        story.click(300 + 40 * number, 200, screen(2, f"row {number}"))
    story.check(TOTAL, SAVED)
    ended(main, State.FAILED, [TOTAL, SAVED], detail="The checks say no.")
    b1, story = child(main, "b1", fork, origin, "Read the amounts from the screen.")
    story.click(500, 300, screen(3, "the wrong amount"))
    saved(story, machine_of(b1, MachineState.STOPPED), "when it was stopped", size=100 * 2**20)
    deliver(story, "report.csv", b"region,sum\nnorth,4120\nsouth,300\n")
    story.check(TOTAL, SAVED)
    ended(b1, State.FAILED, [TOTAL, SAVED], detail="The checks say no.")
    b2, story = child(main, "b2", fork, origin, "Add them up by a formula.")
    story.click(500, 320, screen(3, "the right amount"))
    machine_of(b2, MachineState.DESTROYED)
    deliver(story, "report.csv", b"region,sum\nnorth,4210\nsouth,300\n")
    deliver(story, f"notes {HOSTILE}.txt", HOSTILE.encode(), "text/plain")
    story.check(RIGHT, SAVED)
    ended(b2, State.SUCCEEDED, [RIGHT, SAVED])
    b3, story = child(main, "b3", fork, origin, "Ask the clerk.")
    story.click(500, 340, screen(2, "asking"))
    machine_of(b3, MachineState.READY if goes_on else MachineState.DESTROYED)
    Branch.objects.filter(pk=b3.pk).update(state=State.RUNNING if goes_on else State.CANCELLED)
    if not goes_on:
        chosen(run, b2)
    run.refresh_from_db()
    lifecycle.mirror(run)
    run.refresh_from_db()
    return run


def chosen(run: Run, branch: Branch) -> None:
    reasons = ["b2 before b1: 2 of 2 checks passed, against 1 of 2 checks passed."]
    facts = {"among": ["b1 failed", "b2 succeeded", "main failed"], "reasons": reasons, "order": []}
    story = Story(run.trace, branch.name, EventId(run.trace.events.filter(branch=branch.name).latest("seq").pk))
    story.recorder.event(Kind.SELECT, Actor.VERIFIER, {"text": reasons[0], "branch": branch.name, **facts}, name="b2")
    Run.objects.filter(pk=run.pk).update(chosen=branch, choice=facts)
    assert not run.branches.exclude(state__in=ENDED).exists()


if __name__ == "__main__":
    person = User.objects.get(username=sys.argv[1])
    made = {"over": branched(person), "going": branched(person, goes_on=True)}
    facts = {name: {"task": run.task_id, "run": run.pk, "trace": run.trace_id} for name, run in made.items()}
    json.dump(facts, sys.stdout)
