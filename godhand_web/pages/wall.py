"""Many desktops at a glance: a wall of tiles, and the same for a screen that nobody sits at."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, IntegerField, Value, When
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from agents.models import Branch
from agents.models import State as RunState
from sandboxes import thumbnails
from sandboxes.models import State

from ..access import Person, machine_or_404, visible_machines, visible_runs
from .cards import with_pictures
from .machine_filters import SIZES, Wanted, chosen, offered
from .tiles import cards_on, tiles

KIOSK_TILES = 12
KIOSK_SECONDS = 20
MOST_ASKED = 64


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    wanted, visible = Wanted.read(request.GET), visible_machines(request.user)
    page = page_of(request, wanted, SIZES[wanted.size])
    context = {
        **shown(request.user, page),
        "wanted": wanted,
        "offered": offered(visible, wanted),
        "sizes": [(name, wanted.query(size=name)) for name in SIZES],
        "any": visible.exists(),
        "here": request.get_full_path(),
    }
    return render(request, "machines/wall.html", context)


@require_safe
def kiosk(request: HttpRequest) -> HttpResponse:
    wanted = Wanted.read(request.GET)
    page = page_of(request, wanted, KIOSK_TILES)
    columns, rows = fitting(len(page))
    context = {"wanted": wanted, "seconds": KIOSK_SECONDS, "columns": columns, "rows": rows}
    return render(request, "machines/kiosk.html", {**shown(request.user, page), **context})


def fitting(tiles: int) -> tuple[int, int]:
    """Columns and rows in which so many tiles fill a wide screen."""
    columns = next((columns for columns in (1, 2, 3) if tiles <= columns**2), 4)
    return columns, max(1, -(-tiles // columns))


def page_of(request: HttpRequest, wanted: Wanted, size: int) -> Page[Any]:
    """Whoever needs help comes first, then those with a desktop, then whoever has been in its state the longest."""
    visible = visible_runs(request.user)
    asking = Branch.objects.filter(run__in=visible, state=RunState.NEEDS_HELP, machine__isnull=False).values("machine")
    rank = Case(
        When(pk__in=asking, then=Value(0)), When(state=State.READY, then=Value(1)), default=Value(2),
        output_field=IntegerField(),
    )  # fmt: skip
    found = with_pictures(chosen(visible_machines(request.user), wanted)).annotate(rank=rank)
    return Paginator(found.order_by("rank", "state_since"), size).get_page(request.GET.get("page"))


def shown(person: Person, page: Page[Any]) -> dict[str, Any]:
    return {"page": page, "tiles": tiles(person, list(page))}


@require_safe
def pictures(request: HttpRequest) -> HttpResponse:
    """The name of each one's newest picture, and what is being done there; asking keeps them coming."""
    ids = request.GET.get("machines", "").split(",")[:MOST_ASKED]
    seen = list(visible_machines(request.user).filter(pk__in=ids, state=State.READY).values_list("pk", flat=True))
    done = cards_on(request.user, seen).items()
    doing = {machine: render_to_string("machines/_tile_doing.html", {"card": card}) for machine, card in done}
    fresh = {"pictures": thumbnails.watch(seen), "doing": doing}
    return JsonResponse(fresh, headers={"Cache-Control": "no-store"})


@require_safe
def thumbnail(request: HttpRequest, machine_id: str) -> HttpResponse:
    machine = machine_or_404(request.user, machine_id)
    found = thumbnails.picture(machine.pk)
    if found is None:
        raise Http404
    name, content = found
    # One that has been exchanged meanwhile is shown, and not kept under the old one's name.
    kept = "private, max-age=60" if request.GET.get("v") == name else "no-store"
    return HttpResponse(content, content_type="image/webp", headers={"Cache-Control": kept})
