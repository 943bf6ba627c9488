"""What one can do with a machine's snapshots: take, fork, go back, delete."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from sandboxes import forking
from sandboxes.errors import Refused, SandboxError
from sandboxes.models import Machine, State

from .. import quotas
from ..access import changeable_or_404, changeable_snapshot_or_404, snapshot_or_404
from ..forms import TakeSnapshot
from ..models import User


@require_POST
def take(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    form = TakeSnapshot(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["label"][0]))
    elif machine.state != State.READY:
        messages.error(request, f"“{machine.name}” is not running, so there is nothing to save.")
    elif full := quotas.no_room_on_disk(machine.owner_id):
        messages.error(request, full)
    else:
        forking.request_snapshot(machine, form.cleaned_data["label"] or usual_label(request))
        messages.success(request, "The snapshot is being taken; the desktop stands still for a moment.")
    return back_to(machine)


@require_POST
def fork(request: HttpRequest, machine_id: str, snapshot_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    snapshot = snapshot_or_404(request.user, snapshot_id)
    assert isinstance(request.user, User)
    try:
        child = forking.request_fork(snapshot, request.user)
    except SandboxError as error:
        messages.error(request, str(error))
        return back_to(machine)
    messages.success(request, f"“{child.name}” begins where “{snapshot.label}” was taken.")
    return redirect("machine", child.pk)


@require_POST
def go_back(request: HttpRequest, machine_id: str, snapshot_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    snapshot = snapshot_or_404(request.user, snapshot_id)
    if machine.state != State.READY:
        messages.error(request, f"“{machine.name}” is not running, so it cannot go back.")
    elif (snapshot.backend, snapshot.host) != (machine.backend, machine.host):
        messages.error(request, f"“{snapshot.label}” is on {snapshot.host}: fork it instead.")
    else:
        forking.request_restore(machine, snapshot)
        messages.success(request, f"“{machine.name}” goes back to “{snapshot.label}”.")
    return back_to(machine)


@require_POST
def delete(request: HttpRequest, machine_id: str, snapshot_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    snapshot = changeable_snapshot_or_404(request.user, snapshot_id)
    try:
        size = forking.request_delete(snapshot)
        messages.success(request, f"“{snapshot.label}” is deleted; that gives back {filesizeformat(size)}.")
    except Refused as error:
        messages.error(request, str(error))
    return back_to(machine)


def usual_label(request: HttpRequest) -> str:
    return f"by {request.user.get_username()[:80]}, {timezone.now():%H:%M}"


def back_to(machine: Machine) -> HttpResponse:
    return redirect(f"{reverse('machine', args=[machine.pk])}?tab=snapshots")
