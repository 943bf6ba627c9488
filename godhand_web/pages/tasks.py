"""All tasks: what each is about, how far its runs are, and what they cost."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from agents.models import DRIVEN, RESTING, Run, State, Task
from agents.standing import Schedule

from ..access import visible_tasks
from .task_view import with_last_pictures
from .trace_answers import html

PER_PAGE = 50
SINCE = {"1d": ("24 hours", timedelta(days=1)), "7d": ("7 days", timedelta(days=7)), "30d": ("30 days", timedelta(30))}
ORDER = {state: number for number, state in enumerate((*RESTING, *DRIVEN[::-1]))}


@dataclass(frozen=True)
class Wanted:
    """As the address says it; what makes no sense is left out."""

    state: str = ""
    search: str = ""
    since: str = ""
    cost: float | None = None

    @classmethod
    def read(cls, query: QueryDict) -> "Wanted":
        state, since = query.get("state", ""), query.get("since", "")
        return cls(
            state=state if state in State.values else "",
            search=query.get("q", "").strip()[:200],
            since=since if since in SINCE else "",
            cost=amount(query.get("cost", "")),
        )

    @property
    def narrows(self) -> bool:
        return bool(self.state or self.search or self.since or self.cost)

    @staticmethod
    def query(query: QueryDict, **changes: str) -> str:
        changed = query.copy()
        for name, value in {"page": "", **changes}.items():
            changed[name] = value
            if not value:
                del changed[name]
        return changed.urlencode()


def amount(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 1e9 else None


def with_facts(tasks: QuerySet[Any]) -> QuerySet[Any]:
    """Each with the state of its newest run, and what all its runs took together."""
    newest = Run.objects.filter(task=OuterRef("pk")).order_by("-created_at")
    found: QuerySet[Any] = tasks.select_related("owner").annotate(
        state=Subquery(newest.values("state")[:1]),
        run_count=Count("runs"),
        cost=Sum("runs__trace__cost"),
        steps=Sum("runs__trace__steps"),
        last_at=Max("runs__created_at"),
        recurs=Subquery(Schedule.objects.filter(task=OuterRef("pk")).values("pk")[:1]),
    )
    return found


def chosen(tasks: QuerySet[Any], wanted: Wanted, *, state: bool = True) -> QuerySet[Any]:
    if wanted.search:
        tasks = tasks.filter(goal__icontains=wanted.search)
    if wanted.since:
        tasks = tasks.filter(created_at__gte=timezone.now() - SINCE[wanted.since][1])
    if wanted.cost:
        tasks = tasks.filter(cost__gte=wanted.cost)
    return tasks.filter(state=wanted.state) if wanted.state and state else tasks


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    wanted, visible = Wanted.read(request.GET), visible_tasks(request.user)
    tasks = with_facts(visible)
    counts = _counts(chosen(tasks, wanted, state=False))
    page = Paginator(chosen(tasks, wanted).order_by("-created_at"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": _with_newest(list(page)),
        "wanted": wanted,
        "any": visible.exists(),
        "states": [(state, counts[state]) for state in sorted(counts, key=_importance)],
        "rest": Wanted.query(request.GET, state=""),
        "onward": Wanted.query(request.GET),
        "since": [(key, words) for key, (words, _) in SINCE.items()],
    }
    return html(request, "tasks/index.html", context)


def _counts(tasks: QuerySet[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in tasks.order_by().values_list("state", flat=True):
        counts[state or ""] = counts.get(state or "", 0) + 1
    return {state: count for state, count in counts.items() if state}


def _importance(state: str) -> tuple[int, str]:
    return next((number for known, number in ORDER.items() if known == state), len(ORDER)), state


def _with_newest(tasks: list[Task]) -> list[tuple[Task, Run | None]]:
    runs = with_last_pictures(Run.objects.filter(task__in=tasks)).order_by("created_at")
    newest = {run.task_id: run for run in runs}
    return [(task, newest.get(task.pk)) for task in tasks]
