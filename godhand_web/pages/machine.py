"""One machine: its desktop, its story, its pictures, its end."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from redis.exceptions import RedisError

from sandboxes import forking, lifecycle, tagging
from sandboxes.errors import Refused
from sandboxes.models import Event, Screenshot, State
from sandboxes.screenshots import path_of
from sandboxes.slots import SlotsUsed

from .. import quotas
from ..access import Role, changeable_or_404, machine_or_404, may_change, role_on, visible_snapshots
from ..middleware import gate_url
from ..tickets import issue
from .history import line_of
from .machine_logs import logs_of
from .machine_resources import resources_of
from .stages import stages

FOREVER = "private, max-age=31536000, immutable"
TABS = ("activity", "snapshots", "resources", "logs", "details")
EVENTS_SHOWN = 200
PICTURES_SHOWN = 60


@require_safe
def show(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = machine_or_404(request.user, machine_id)
    pictures = list(machine.screenshots.order_by("-pk")[:PICTURES_SHOWN])
    tab = next((name for name in TABS if name == request.GET.get("tab")), "activity")
    context = {
        "machine": machine,
        "role": role_on(request.user, machine),
        "may_change": may_change(request.user, machine),
        "events": Event.objects.filter(machine=machine).order_by("-pk")[:EVENTS_SHOWN],
        "screenshots": pictures,
        "screenshot_count": machine.screenshots.count(),
        "last_picture": pictures[0] if pictures else None,
        "stages": stages(machine),
        "snapshot_count": machine.snapshots.count(),
        "made_from": visible_snapshots(request.user).filter(pk=machine.made_from_id).first(),
        "tab": tab,
        "line": line_of(request.user, machine) if tab == "snapshots" else [],
        "resources": resources_of(machine) if tab == "resources" else None,
        "logs": logs_of(machine, request.GET.get("log", "")) if tab == "logs" else None,
        "tags": [tag.name for tag in machine.tags.all()],
    }
    return render(request, "machines/machine.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def destroy(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    if request.method != "POST":
        return render(request, "machines/destroy.html", {"machine": machine})
    if lifecycle.request_destroy(machine, request.user.get_username()):
        messages.success(request, f"“{machine.name}” is being destroyed.")
    else:
        messages.info(request, f"“{machine.name}” has ended already.")
    return redirect("machine", machine.pk)


@require_POST
def stop(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    if not forking.request_stop(machine, request.user.get_username()):
        messages.error(request, f"“{machine.name}” is not running, so there is nothing to stop.")
    return redirect("machine", machine.pk)


@require_POST
def resume(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    if full := quotas.no_room_for_a_machine(machine.owner_id):
        messages.error(request, full)
    else:
        try:
            if not forking.request_resume(machine, request.user.get_username()):
                messages.error(request, f"“{machine.name}” is not stopped, so there is nothing to resume.")
        except SlotsUsed as error:
            messages.error(request, str(error))
    return redirect("machine", machine.pk)


@require_POST
def tag(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    try:
        add, remove = tagging.words(request.POST.get("add", "")), tagging.words(request.POST.get("remove", ""))
        tagging.change(machine, add, remove, request.user.get_username())
    except Refused as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('machine', args=[machine.pk])}?tab=details")


@require_POST
def ticket(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = machine_or_404(request.user, machine_id)
    wanted = request.POST.get("role")
    if wanted not in ("view", "drive"):
        return JsonResponse({"error": "Ask for the role view or drive."}, status=400)
    role: Role = "drive" if wanted == "drive" else "view"
    if role == "drive" and role_on(request.user, machine) != "drive":
        return JsonResponse({"error": "You may watch this machine, not drive it."}, status=403)
    if machine.state != State.READY:
        return JsonResponse({"error": "The desktop is not there now."}, status=409)
    assert request.user.pk is not None
    try:
        token = issue(machine.pk, request.user.pk, role)
    except RedisError:
        return JsonResponse({"error": "Tickets cannot be made now; Redis does not answer."}, status=503)
    url = f"{gate_url(request)}/vnc/{machine.pk}?ticket={token}"
    return JsonResponse({"url": url}, headers={"Cache-Control": "no-store"})


@require_POST
def take_screenshot(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = changeable_or_404(request.user, machine_id)
    if machine.state == State.READY:
        lifecycle.request_screenshot(machine, f"Saved by {request.user.get_username()}")
        messages.success(request, "The screenshot will appear below in a moment.")
    else:
        messages.error(request, "There is no desktop to take a picture of now.")
    return redirect("machine", machine.pk)


@require_safe
def screenshot(request: HttpRequest, machine_id: str, number: int) -> HttpResponse:
    machine = machine_or_404(request.user, machine_id)
    all_of_it = Screenshot.objects.filter(machine=machine)
    shown = get_object_or_404(all_of_it, pk=number)
    context = {
        "machine": machine,
        "shot": shown,
        "earlier": all_of_it.filter(pk__lt=number).order_by("-pk").first(),
        "later": all_of_it.filter(pk__gt=number).order_by("pk").first(),
        "position": all_of_it.filter(pk__lte=number).count(),
        "count": all_of_it.count(),
    }
    return render(request, "machines/screenshot.html", context)


@require_safe
def picture(request: HttpRequest, machine_id: str, sha256: str) -> HttpResponse:
    machine = machine_or_404(request.user, machine_id)
    if not machine.screenshots.filter(sha256=sha256).exists():
        raise Http404
    try:
        content = path_of(sha256).read_bytes()
    except OSError:
        raise Http404 from None
    return HttpResponse(content, content_type="image/webp", headers={"Cache-Control": FOREVER})
