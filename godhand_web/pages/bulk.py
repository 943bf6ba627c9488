"""One thing done to many machines: a question first, then what came of it for each."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from agents import lifecycle as run_lifecycle
from agents import takeover
from sandboxes import forking, lifecycle, tagging
from sandboxes.errors import Refused
from sandboxes.models import ENDED, Machine, State
from sandboxes.slots import SlotsUsed

from .. import quotas
from ..access import Person, may_change, visible_machines

MOST = 200
NOT_YOURS = "You may look at this machine, not change it."


@dataclass(frozen=True)
class Ask:
    """What the form said besides which machines."""

    person: Person
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def by(self) -> str:
        return self.person.get_username()

    @classmethod
    def read(cls, request: HttpRequest) -> "Ask":
        """Raises Refused for tags that cannot be."""
        add, remove = (tuple(tagging.words(request.POST.get(name, ""))) for name in ("add", "remove"))
        return cls(request.user, add, remove)


@dataclass(frozen=True)
class Verb:
    """`fits` are the states in which it can be done, `done` and `unfit` sentences for those it was done to or not."""

    word: str
    icon: str
    question: str
    fits: tuple[State, ...]
    act: Callable[[Machine, Ask], bool]
    done: str
    unfit: str
    danger: bool = False


def snapshot(machine: Machine, ask: Ask) -> bool:
    if machine.state != State.READY:
        return False
    quotas.check_disk(machine.owner_id)
    forking.request_snapshot(machine, f"by {ask.by[:80]}, {timezone.now():%H:%M}")
    return True


def resume(machine: Machine, ask: Ask) -> bool:
    quotas.check_machines(machine.owner_id)
    return forking.request_resume(machine, ask.by)


def pause(machine: Machine, ask: Ask) -> bool:
    branch = takeover.branch_of(machine)
    return branch is not None and run_lifecycle.request_pause(branch, ask.person)


VERBS = {
    "pause": Verb(
        "Pause", "pause", "The agent of each rests after what it is doing now. The machines go on.",
        (State.READY,), pause,
        "Its agent pauses.", "No agent is at work there, so there is nothing to pause.",
    ),
    "stop": Verb(
        "Stop", "circle-stop", "Each is saved whole, memory and disk, and taken off the host. Resume brings it back.",
        (State.READY,), lambda machine, ask: forking.request_stop(machine, ask.by),
        "It is being saved and stopped.", "It is not running, so there is nothing to stop.",
    ),
    "resume": Verb(
        "Resume", "play", "Each goes on where it was stopped.",
        (State.STOPPED,), resume,
        "It is queued and comes back where it was.", "It is not stopped, so there is nothing to resume.",
    ),
    "snapshot": Verb(
        "Snapshot", "layers", "Memory and disk of each are kept as they are. The desktops stand still for a moment.",
        (State.READY,), snapshot,
        "A snapshot is being taken.", "It is not running, so there is nothing to save.",
    ),
    "tag": Verb(
        "Tag", "tag", "Words to file them under, and to find them by.",
        tuple(State), lambda machine, ask: tagging.change(machine, ask.add, ask.remove, ask.by),
        "Its tags are changed.", "Its tags were like that already.",
    ),
    "destroy": Verb(
        "Destroy", "trash-2", "The desktops close at once. Files and whatever is open in them are lost for good.",
        tuple(state for state in State if state not in (*ENDED, State.DESTROYING)),
        lambda machine, ask: lifecycle.request_destroy(machine, ask.by),
        "It is being destroyed.", "It has ended already.", danger=True,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Result:
    machine: Machine
    done: bool
    sentence: str


@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    name = given.get("verb", "")
    verb = VERBS.get(name)
    machines = selected(request, given.getlist("machine"))
    context = {"verb": verb, "name": name, "back": way_back(request, given.get("back", ""))}
    if verb is None or not machines:
        return render(request, "machines/bulk_none.html", context, status=400 if request.method == "POST" else 200)
    if request.method == "POST":
        try:
            ask = Ask.read(request)
            results = [result(request, each, verb, ask) for each in machines]
            return render(request, "machines/bulk_done.html", {**context, "results": results})
        except Refused as error:
            context["error"] = str(error)
    rows = [(each, why_not(request, each, verb)) for each in machines]
    count = sum(not reason for _, reason in rows)
    return render(request, "machines/bulk.html", {**context, "rows": rows, "count": count})


def selected(request: HttpRequest, ids: list[str]) -> list[Machine]:
    """In the order of their names. Raises Http404 when one of them does not exist for this person."""
    wanted = set(ids[:MOST])
    found = list(visible_machines(request.user).filter(pk__in=wanted).select_related("owner").order_by("name"))
    if len(found) != len(wanted):
        raise Http404
    return found


def why_not(request: HttpRequest, machine: Machine, verb: Verb) -> str:
    if not may_change(request.user, machine):
        return NOT_YOURS
    return "" if machine.state in verb.fits else verb.unfit


def result(request: HttpRequest, machine: Machine, verb: Verb, ask: Ask) -> Result:
    if not may_change(request.user, machine):
        return Result(machine, False, NOT_YOURS)
    try:
        done = verb.act(machine, ask)
    except (Refused, SlotsUsed) as error:
        return Result(machine, False, str(error))
    machine.refresh_from_db()
    return Result(machine, done, verb.done if done else verb.unfit)


def way_back(request: HttpRequest, address: str) -> str:
    ours = url_has_allowed_host_and_scheme(address, allowed_hosts=None) and address.startswith("/")
    return address if ours else reverse("machines")
