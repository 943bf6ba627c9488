"""Rows around a machine, for the site of a test. Run as a program by tests of control in a browser."""

import json
import os
import sys
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from agents import giveback  # noqa: E402
from agents.models import Branch, Takeover  # noqa: E402
from agents.models import State as RunState  # noqa: E402
from godhand_web.models import User  # noqa: E402
from sandboxes import lease  # noqa: E402
from sandboxes.models import Event, Lease, Machine, State  # noqa: E402
from tests.web import task_rows  # noqa: E402


def machine(handle: str) -> Machine:
    """Ann's; its process is another installation's, so nobody here knows its number."""
    facts = {name: value for name, value in json.loads(handle).items() if name != "pid"}
    ann = User.objects.get(username="ann")
    made = Machine.objects.create(
        id=facts["id"], name="calm-heron", owner=ann, backend="gvisor", image="desktop", host="here",
        state=State.READY, handle=facts,
    )  # fmt: skip
    Event.objects.create(machine=made, state=State.READY, text="Desktop is up")
    return made


def run_on(made: Machine) -> dict[str, str]:
    """An agent in the middle of an action, whose worker does not answer."""
    run = task_rows.run_in(made.owner, RunState.RUNNING, steps=3)
    Branch.objects.filter(run=run).update(machine=made)
    assert lease.grip(made)
    return {"run": run.pk, "task": run.task_id}


def driven() -> dict[str, str]:
    """A run whose machine ann drives. The machine's address answers nobody."""
    run = task_rows.run_in(User.objects.get(username="ann"), RunState.HUMAN_CONTROL, steps=3)
    branch = run.branches.get()
    made = branch.machine
    assert made
    made.handle = {"id": made.pk, "address": "127.0.0.1", "token": "t" * 32}
    made.save()
    Takeover.objects.create(branch=branch, person=made.owner, began_at=timezone.now())
    assert lease.change(lease.of(made.pk), lease.holder_of(made.owner))
    return {"run": run.pk, "task": run.task_id, "machine": made.pk}


def time_left(machine_id: str, seconds: int) -> None:
    """None, and it is over."""
    Lease.objects.filter(machine=machine_id).update(expires=timezone.now() + timedelta(seconds=seconds))
    if not seconds:
        giveback.expire(lease.of(machine_id))


def plan(run_id: str, x: int, y: int) -> int:
    """The agent is about to click there."""
    call: Any = {"id": "next", "name": "left_click", "input": {"coordinate": [x, y]}, "toolset": "computer"}
    told: Any = {
        "text": "",
        "reasoning": "",
        "usage": task_rows.USAGE,
        "cost": 0,
        "provider": "scripted",
        "model": "Chart",
    }
    recorder = task_rows.recorder_of(Branch.objects.get(run=run_id))
    return int(recorder.reply(None, turn=9, calls=[call], **told).actions[0])


def told(run_id: str) -> dict[str, object]:
    branch = Branch.objects.get(run=run_id)
    made = Takeover.objects.filter(branch=branch).latest("pk")
    return {"state": branch.state, "choice": made.choice, "note": made.note}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["machine", handle]:
            print(json.dumps(machine(handle).pk))
        case ["run", machine_id]:
            print(json.dumps(run_on(Machine.objects.get(pk=machine_id))))
        case ["driven"]:
            print(json.dumps(driven()))
        case ["left", machine_id, seconds]:
            time_left(machine_id, int(seconds))
        case ["plan", run_id, x, y]:
            print(json.dumps(plan(run_id, int(x), int(y))))
        case ["told", run_id]:
            print(json.dumps(told(run_id)))
        case ["token", machine_id]:
            print(json.dumps(Machine.objects.get(pk=machine_id).handle))
