from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandboxes.models import ENDED

from ..access import visible_machines
from .cards import image_cards


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    running = visible_machines(request.user).exclude(state__in=ENDED).values_list("image", flat=True)
    in_use = list(running)
    cards = [(card, in_use.count(card.name)) for card in image_cards()]
    return render(request, "images.html", {"cards": cards, "unbuilt": [card for card, _ in cards if not card.built]})
