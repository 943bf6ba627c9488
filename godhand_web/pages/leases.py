"""Taking control of a machine, keeping it, and giving it away again. Every answer says who drives now."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from agents import giveback, takeover
from agents.errors import BadTask
from agents.models import Takeover
from agents.notify import page_of
from sandboxes import lease
from sandboxes.errors import SandboxError
from sandboxes.models import Lease, Machine, State

from ..access import drivable_or_404, machine_or_404, may_force, run_or_404
from ..models import User
from .control import facts_of, name_of
from .task_verbs import first_branch

LONGEST_NOTE = 4000
FRESH = {"Cache-Control": "no-store"}


class Refusal(Exception):
    """A sentence for the person who asked."""


Verb = Callable[[HttpRequest, User, Machine, Lease], None]


@require_safe
def show(request: HttpRequest, machine_id: str) -> HttpResponse:
    return JsonResponse(facts_of(request.user, machine_or_404(request.user, machine_id)), headers=FRESH)


@require_POST
def act(request: HttpRequest, machine_id: str, verb: str) -> HttpResponse:
    machine = drivable_or_404(request.user, machine_id)
    assert isinstance(request.user, User)
    if verb not in VERBS:
        raise Http404
    held = lease.of(machine.pk)
    if lease.is_overdue(held):
        giveback.expire(held)
    try:
        VERBS[verb](request, request.user, machine, held)
    except (Refusal, SandboxError, BadTask) as error:
        return JsonResponse({"error": str(error), **facts_of(request.user, machine)}, status=409, headers=FRESH)
    return JsonResponse(facts_of(request.user, machine), headers=FRESH)


@require_POST
def take_over(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    """The first step of it, from elsewhere; the run's own page takes the next ones."""
    branch = first_branch(run_or_404(request.user, task_id, run_id), request.GET.get("branch", ""))
    machine = drivable_or_404(request.user, branch.machine_id or "")
    assert isinstance(request.user, User)
    try:
        _take(request, request.user, machine, lease.of(machine.pk))
    except (Refusal, SandboxError) as error:
        messages.error(request, str(error))
    return redirect(page_of(branch))


def _take(request: HttpRequest, person: User, machine: Machine, _: Lease) -> None:
    if machine.state != State.READY:
        raise Refusal("The desktop is not there now.")
    takeover.take(machine, person, interrupt="interrupt" in request.POST, private="record" not in request.POST)


def _withdraw(_: HttpRequest, person: User, machine: Machine, __: Lease) -> None:
    giveback.withdraw(machine, person)


def _beat(request: HttpRequest, person: User, _: Machine, held: Lease) -> None:
    if not lease.beat(held, lease.holder_of(person), longer="longer" in request.POST):
        raise Refusal("You are not driving any more.")


def _back(request: HttpRequest, person: User, machine: Machine, _: Lease) -> None:
    choices = Takeover.Choice.CONTINUE, Takeover.Choice.BRANCH, Takeover.Choice.STOP
    given = request.POST.get("choice", Takeover.Choice.CONTINUE)
    choice = next((one for one in choices if one == given), None)
    if choice is None:
        raise Refusal("Say how it goes on: continue, branch or stop.")
    if not giveback.hand_back(machine, person, choice, request.POST.get("note", "")[:LONGEST_NOTE]):
        raise Refusal("You are not driving any more.")


def _ask(_: HttpRequest, person: User, __: Machine, held: Lease) -> None:
    if not lease.ask(held, lease.holder_of(person)):
        raise Refusal("Nobody can be asked now: somebody else asks already, or nobody drives.")


def _accept(_: HttpRequest, person: User, __: Machine, held: Lease) -> None:
    asker = User.objects.filter(pk=lease.person_id(lease.asking(held)) or 0, is_active=True).first()
    if held.holder != lease.holder_of(person) or asker is None:
        raise Refusal("Nobody asks you for control any more.")
    takeover.pass_on(held, asker, f"{person.get_username()} gave control to {asker.get_username()}")


def _decline(_: HttpRequest, person: User, __: Machine, held: Lease) -> None:
    if held.holder == lease.holder_of(person):
        lease.decline(held, held.asker)


def _force(request: HttpRequest, person: User, machine: Machine, held: Lease) -> None:
    if not may_force(person, machine):
        raise Refusal("Only its owner and administrators can take control from somebody.")
    if lease.person_id(held.holder) in (None, person.pk):
        _take(request, person, machine, held)
    elif not takeover.pass_on(held, person, f"{person.get_username()} took control from {name_of(held.holder)}"):
        raise Refusal("Somebody was quicker. Look who drives now.")


VERBS: dict[str, Verb] = {
    "take": _take,
    "withdraw": _withdraw,
    "beat": _beat,
    "back": _back,
    "ask": _ask,
    "accept": _accept,
    "decline": _decline,
    "force": _force,
}
