"""Driving a branch, and what its trace tells in few words."""

from agents import runner
from agents.models import Branch
from traces.models import Event


def drive(branch: Branch) -> Branch:
    runner.drive(branch.pk)
    branch.refresh_from_db()
    return branch


def story(branch: Branch) -> list[str]:
    """`kind name`, with the fate of actions."""
    events = Event.objects.filter(trace=branch.run.trace_id).order_by("seq")
    return [" ".join(filter(None, (event.kind, event.name, event.fate))) for event in events]


def actions(branch: Branch) -> list[tuple[str, str]]:
    events = Event.objects.filter(trace=branch.run.trace_id, kind="action").order_by("seq")
    return [(event.name, event.fate) for event in events]


def told(branch: Branch, name: str) -> list[str]:
    """What the model was answered to calls of that name."""
    events = Event.objects.filter(trace=branch.run.trace_id, kind="action", name=name).order_by("seq")
    return [event.result["sent"]["text"] for event in events if event.result]
