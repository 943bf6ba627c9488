"""What the frame around every page shows: where one can go, how full the host is, what is wrong, which theme."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from agents.models import ENDED as RUN_ENDED
from sandboxes.models import OFF_HOST, Machine

from .access import Person, may_create, visible_machines, visible_runs
from .models import User
from .troubles import troubles

THEME_COOKIE = "godhand-theme"
THEMES = ("system", "light", "dark")
KEYS_COOKIE = "godhand-keys"
DENSITY_COOKIE = "godhand-density"
MOTION_COOKIE = "godhand-motion"
NOTIFY_COOKIE = "godhand-notify"


@dataclass(frozen=True)
class Place:
    """One that is folded is under "More" where there is little room."""

    title: str
    url_name: str
    icon: str
    key: str = ""
    folded: bool = False

    @property
    def url(self) -> str:
        return reverse(self.url_name)


@dataclass(frozen=True)
class Entry:
    place: Place
    current: bool
    count: int | None = None


PLACES = (
    Place("Dashboard", "dashboard", "layout-dashboard", "g d"),
    Place("Tasks", "tasks", "list-todo", "g t"),
    Place("Schedules", "schedules", "calendar-clock", "g c", folded=True),
    Place("Machines", "machines", "monitor", "g v"),
    Place("Traces", "traces", "route", "g r"),
    Place("Images", "images", "disc-3", "g i", folded=True),
    Place("Settings", "settings", "settings", "g s", folded=True),
)


def slots_used() -> int:
    return Machine.objects.exclude(state__in=OFF_HOST).count()


def theme_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get(THEME_COOKIE, "system")
    return chosen if chosen in THEMES else "system"


def entries(path: str, person: Person) -> list[Entry]:
    counts = {
        "machines": visible_machines(person).exclude(state__in=OFF_HOST).count(),
        "tasks": visible_runs(person).exclude(state__in=RUN_ENDED).count(),
    }
    return [
        Entry(
            place,
            path == place.url if place.url == "/" else path.startswith(place.url),
            counts.get(place.url_name),
        )
        for place in PLACES
    ]


def shell(request: HttpRequest) -> dict[str, Any]:
    frame: dict[str, Any] = {
        "layout": "layouts/fragment.html" if "X-Fragment" in request.headers else "layouts/base.html",
        "theme": theme_of(request),
        "themes": THEMES,
        "keys_off": request.COOKIES.get(KEYS_COOKIE) == "off",
        "compact": request.COOKIES.get(DENSITY_COOKIE) == "compact",
        "still": request.COOKIES.get(MOTION_COOKIE) == "reduce",
        "notify": [name for name in ("help", "end") if name in request.COOKIES.get(NOTIFY_COOKIE, "").split()],
    }
    # Answers to a failed CSRF check are drawn before anybody is known.
    person = getattr(request, "user", None)
    if isinstance(person, User):
        frame |= {
            "entries": entries(request.path, person),
            "slots": settings.MACHINE_SLOTS,
            "slots_used": slots_used(),
            "troubles": list(troubles()),
            "may_create": may_create(person),
        }
    return frame
