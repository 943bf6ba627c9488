"""What one can do to a run: pause, resume, say something, keep a snapshot, change its limits, stop it, do it again."""

from collections.abc import Callable, Iterable
from functools import partial

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents import api, lifecycle
from agents.errors import AgentError, BadTask
from agents.models import ENDED, Branch, Run
from agents.notify import page_of
from sandboxes.errors import SandboxError
from sandboxes.models import State as MachineState

from .. import quotas
from ..access import changeable_run_or_404, run_or_404
from ..forms import TakeSnapshot
from ..templatetags.godhand import of_field
from . import machine as machine_pages
from .snapshots import usual_label

LONGEST_NOTE = 10_000


class SendNote(forms.Form):
    text = forms.CharField(
        max_length=LONGEST_NOTE,
        error_messages={
            "required": "There is nothing to send yet.",
            "max_length": f"Keep it within {LONGEST_NOTE} characters; this has %(show_value)d.",
        },
    )


class ChangeLimits(forms.Form):
    """What is left empty stays as it is."""

    steps = forms.IntegerField(required=False)
    minutes = forms.FloatField(required=False)
    money = forms.FloatField(label="Dollars", required=False)


def first_error(form: forms.Form) -> str:
    return next(str(error) for errors in form.errors.values() for error in errors)


def living(run: Run) -> Iterable[Branch]:
    return run.branches.exclude(state__in=ENDED)


def back_to(run: Run, branch: Branch | None = None) -> HttpResponse:
    return redirect(page_of(branch)) if branch else redirect("run", run.task_id, run.pk)


@require_POST
def pause(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    verb = partial(lifecycle.request_pause, by=request.user)
    return _to_all(request, task_id, run_id, verb, "It pauses after what it is doing now.")


@require_POST
def resume(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    return _to_all(request, task_id, run_id, lifecycle.request_resume, "It goes on.")


@require_POST
def step(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    return _to_all(request, task_id, run_id, lifecycle.request_step, "One step further, and then it rests.")


def _to_all(request: HttpRequest, task_id: str, run_id: str, verb: Callable[[Branch], bool], done: str) -> HttpResponse:
    run = changeable_run_or_404(request.user, task_id, run_id)
    heard = [verb(branch) for branch in living(run)]
    if any(heard):
        messages.success(request, done)
    else:
        messages.info(request, f"Nothing to do: it is {run.get_state_display().lower()}.")
    return back_to(run)


@require_POST
def note(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    """To the branch that the page showed. Also the answer to its question: one that rests for it goes on."""
    run = changeable_run_or_404(request.user, task_id, run_id)
    name = request.GET.get("branch", "")
    form, branch = SendNote(request.POST), first_branch(run, name) if name else next(iter(living(run)), None)
    if not form.is_valid():
        messages.error(request, first_error(form))
    elif branch is None or branch.ended:
        messages.error(request, "It has ended, so nobody would hear it.")
    else:
        lifecycle.add_note(branch, form.cleaned_data["text"], request.user)
        messages.success(request, "Sent. The agent hears it before its next step.")
    return back_to(run, branch)


@require_POST
def limits(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    run = changeable_run_or_404(request.user, task_id, run_id)
    form = ChangeLimits(request.POST)
    try:
        if not form.is_valid():
            field = next(field for field in form if field.errors)
            raise BadTask(of_field(str(field.errors[0]), str(field.label)))
        branch = first_branch(run, request.GET.get("branch", ""))
        api.change_limits(branch, {name: value for name, value in form.cleaned_data.items() if value is not None})
        messages.success(request, "The limits are changed; they are looked at before the next step.")
    except BadTask as error:
        messages.error(request, str(error))
    return back_to(run)


@require_POST
def snapshot(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    run = changeable_run_or_404(request.user, task_id, run_id)
    form, branch = TakeSnapshot(request.POST), first_branch(run, request.GET.get("branch", ""))
    if not form.is_valid():
        messages.error(request, first_error(form))
    elif branch.machine is None or branch.machine.state != MachineState.READY:
        messages.error(request, "There is no desktop now, so there is nothing to save.")
    elif full := quotas.no_room_on_disk(run.task.owner_id):
        messages.error(request, full)
    elif api.want_snapshot(branch, form.cleaned_data["label"] or usual_label(request)):
        messages.success(request, "The snapshot is being taken; the desktop stands still for a moment.")
    else:
        messages.success(request, "The snapshot is taken as soon as the agent asks its model again.")
    return back_to(run)


@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    run = changeable_run_or_404(request.user, task_id, run_id)
    if request.method != "POST":
        return render(request, "tasks/stop.html", {"run": run, "task": run.task})
    branches = list(living(run))
    for branch in branches:
        lifecycle.request_cancel(branch)
    messages.info(request, "The run is being stopped." if branches else "The run has ended already.")
    return back_to(run)


@require_POST
def again(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    run = changeable_run_or_404(request.user, task_id, run_id)
    try:
        another = api.start(run.task)
    except (AgentError, SandboxError) as error:
        messages.error(request, str(error))
        return back_to(run)
    messages.success(request, "Another run of this task has begun.")
    return back_to(another)


@require_POST
def ticket(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    """A ticket for the desktop that the run has now, whichever machine that is."""
    run = run_or_404(request.user, task_id, run_id)
    branch = first_branch(run, request.GET.get("branch", ""))
    if branch.machine_id is None:
        raise Http404
    return machine_pages.ticket(request, branch.machine_id)


def first_branch(run: Run, name: str = "") -> Branch:
    """Raises Http404."""
    branches = run.branches.select_related("machine")
    found = (branches.filter(name=name) if name else branches).first()
    if found is None:
        raise Http404
    return found
