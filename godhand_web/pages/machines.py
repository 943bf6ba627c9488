"""All machines, and the form that makes one more."""

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from sandboxes import lifecycle
from sandboxes.errors import NotBuilt, SandboxError
from sandboxes.models import ENDED, State

from ..access import may_create, visible_machines
from ..context import slots_used
from ..forms import NewMachine
from ..models import User
from .cards import image_cards, with_pictures

PER_PAGE = 200
TABS: dict[str, list[State]] = {
    "running": [state for state in State if state not in (*ENDED, State.STOPPED)],
    "stopped": [State.STOPPED],
    "ended": list(ENDED),
}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    visible = visible_machines(request.user)
    counted = dict(visible.order_by().values_list("state").annotate(Count("pk")))
    tab = next((name for name in TABS if name == request.GET.get("tab")), "running")
    states = TABS[tab]
    chosen = request.GET.get("state") if request.GET.get("state") in states else None
    wanted = with_pictures(visible).filter(state__in=[chosen] if chosen else states)
    context = {
        "page": Paginator(wanted.order_by("-created_at"), PER_PAGE).get_page(request.GET.get("page")),
        "tab": tab,
        "chosen": chosen,
        "filters": [(state.value, counted[state]) for state in states if counted.get(state)],
        "tabs": {name: sum(counted.get(state, 0) for state in its) for name, its in TABS.items()},
    }
    return render(request, "machines/index.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, User) or not may_create(request.user):
        raise PermissionDenied
    form = NewMachine(request.POST) if request.method == "POST" else NewMachine(initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            machine = lifecycle.request_machine(
                request.user, image=form.cleaned_data["image"], name=form.cleaned_data["name"]
            )
            return redirect("machine", machine.pk)
        except NotBuilt as error:
            form.add_error("image", str(error))
        except SandboxError as error:
            form.add_error(None, str(error))
    context = {"form": form, "images": image_cards(), "full": slots_used() >= settings.MACHINE_SLOTS}
    return render(request, "machines/new.html", context, status=400 if form.errors else 200)
