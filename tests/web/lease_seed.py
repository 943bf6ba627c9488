"""Rows around a real machine, for the site of a test. Run as a program by `test_lease_in_browser.py`."""

import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from agents.models import Branch, Takeover  # noqa: E402
from agents.models import State as RunState  # noqa: E402
from godhand_web.models import User  # noqa: E402
from sandboxes import lease  # noqa: E402
from sandboxes.models import Event, Machine, State  # noqa: E402
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
        case ["plan", run_id, x, y]:
            print(json.dumps(plan(run_id, int(x), int(y))))
        case ["told", run_id]:
            print(json.dumps(told(run_id)))
        case ["token", machine_id]:
            print(json.dumps(Machine.objects.get(pk=machine_id).handle))
