from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandboxes.models import ENDED, State

from ..access import visible_machines
from .cards import image_cards, with_pictures

RUNNING_SHOWN = 24
STOPPED_SHOWN = 6
ENDED_SHOWN = 6


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    machines = with_pictures(visible_machines(request.user))
    running = machines.exclude(state__in=(*ENDED, State.STOPPED))
    context = {
        "running": running[:RUNNING_SHOWN],
        "running_count": running.count(),
        "stopped": machines.filter(state=State.STOPPED).order_by("-state_since")[:STOPPED_SHOWN],
        "ended": machines.filter(state__in=ENDED).order_by("-state_since")[:ENDED_SHOWN],
        "images": image_cards(),
    }
    return render(request, "dashboard.html", context)
