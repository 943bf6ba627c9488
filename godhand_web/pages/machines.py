"""All machines, and the form that makes one more."""

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from sandboxes import lifecycle
from sandboxes.errors import NotBuilt, SandboxError
from sandboxes.models import Machine

from ..access import Person, maker_or_403, visible_machines
from ..context import slots_used
from ..forms import NewMachine
from .cards import image_cards, with_pictures
from .machine_filters import SORTS, TABS, Wanted, chosen, offered
from .machine_resources import Resources, resources_of
from .tiles import Tile, cards_on, pictures_of

PER_PAGE = 50
COLUMNS = (("name", "Name"), ("state", "State"), ("image", "Image"), ("", "Resources"), ("owner", "Owner"))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    wanted, visible = Wanted.read(request.GET), visible_machines(request.user)
    counted = dict(visible.order_by().values_list("state").annotate(Count("pk")))
    found = chosen(visible, wanted).order_by(*SORTS[wanted.sort]).values_list("pk", flat=True)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": rows(request.user, in_full(list(page))),
        "wanted": wanted,
        "offered": offered(visible, wanted),
        "tabs": {name: sum(counted.get(state, 0) for state in its) for name, its in TABS.items()},
        "columns": [(word, key, wanted.query(sort=key)) for key, word in COLUMNS],
        "any": bool(counted),
        "here": request.get_full_path(),
    }
    return render(request, "machines/index.html", context)


def in_full(ids: list[str]) -> list[Machine]:
    """Apart from finding them: a database works out what is shown also of the rows that it passes over."""
    found = with_pictures(Machine.objects.all()).prefetch_related("tags").in_bulk(ids)
    return [found[each] for each in ids if each in found]


def rows(person: Person, machines: list[Machine]) -> list[tuple[Resources, Tile]]:
    pictures, done = pictures_of(machines), cards_on(person, [machine.pk for machine in machines], ended=True)
    shown = [Tile(each, pictures.get(each.pk, ""), done.get(each.pk)) for each in machines]
    return [(resources_of(tile.machine), tile) for tile in shown]


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    person = maker_or_403(request.user)
    form = NewMachine(request.POST) if request.method == "POST" else NewMachine(initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            machine = lifecycle.request_machine(
                person,
                image=form.cleaned_data["image"],
                name=form.cleaned_data["name"],
                limits=form.limits(),
            )
            return redirect("machine", machine.pk)
        except NotBuilt as error:
            form.add_error("image", str(error))
        except SandboxError as error:
            form.add_error(None, str(error))
    context = {"form": form, "images": image_cards(), "full": slots_used() >= settings.MACHINE_SLOTS}
    return render(request, "machines/new.html", context, status=400 if form.errors else 200)
