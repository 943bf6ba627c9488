"""Who drives a machine, and what of that one person may change: facts for the page's script."""

from typing import Any, TypedDict

from django.urls import reverse

from agents import handback, takeover
from agents.models import Branch, State, Takeover
from sandboxes import lease
from sandboxes.models import Lease, Machine
from traces.queries import events_up_to
from traces.sentences import sentence

from ..access import Person, may_drive, may_force
from ..models import User
from .trace_links import Links

NEWEST = 2**62


class Facts(TypedDict):
    """`mode` is nobody, agent, you or other, and you only once what you send arrives; `stage` how far one's own
    take-over has come.

    `name` is who drives, or is about to; `asker` who asks for it, `asking` that oneself does. `left` is in seconds.
    `before` is the address of the screen as the agent last saw it, for who drives in its place.
    """

    me: str
    mode: str
    name: str
    doing: str
    stage: str
    epoch: int
    left: int
    asker: str
    asking: bool
    agent: bool
    may_drive: bool
    may_force: bool
    may_branch: bool
    recorded: bool
    before: str


def facts_of(person: Person, machine: Machine) -> Facts:
    held, me = lease.look(machine.pk), lease.holder_of(person)
    branch, begun = takeover.branch_of(machine), takeover.pending(machine)
    mine = bool(begun and begun.person_id == person.pk)
    asker = lease.asking(held)
    mode = _mode(held, me, branch)
    return {
        "me": me,
        "mode": mode,
        "name": name_of(held.holder) or (begun.person.get_username() if begun and begun.person and not mine else ""),
        "doing": _doing(branch) if mode == "agent" and branch else "",
        "stage": _stage(begun) if mine and mode != "you" else "",
        "epoch": held.epoch,
        "left": lease.seconds_left(held),
        "asker": name_of(asker) if mode == "you" else "",
        "asking": asker == me,
        "agent": branch is not None,
        "may_drive": may_drive(person, machine),
        "may_force": may_force(person, machine),
        "may_branch": bool(begun and begun.snapshot_id),
        "recorded": bool(begun and not begun.private),
        "before": _before(begun) if begun and mode == "you" else "",
    }


def _mode(held: Lease, me: str, branch: Branch | None) -> str:
    if held.holder == me and lease.counts(held):
        return "you"
    if held.holder != me and lease.person_id(held.holder):
        return "other"
    return "agent" if branch and branch.state in (State.RUNNING, State.QUEUED) else "nobody"


def _before(begun: Takeover) -> str:
    """Where the trace shows it: to those who may see the trace."""
    found = handback.seen_before(begun)
    return Links(reverse("trace", args=[begun.branch.run.trace_id])).picture(found) if found else ""


def _stage(begun: Takeover | None) -> str:
    if begun is None or begun.began_at:
        return ""
    return "saving" if begun.saving_since else "finishing"


def name_of(holder: str) -> str:
    """Empty for the agent, and for nobody."""
    found: User | Any = User.objects.filter(pk=lease.person_id(holder) or 0).first()
    return found.get_username() if found else ""


def _doing(branch: Branch) -> str:
    events = events_up_to(branch.run.trace_id, branch.name, NEWEST, 1)
    return sentence(events[0]) if events else ""
