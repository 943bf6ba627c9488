"""One task: its only run, or the list of its runs; and one run, as it goes and as it ended."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agents.check_text import to_toml
from agents.models import Run, Task
from agents.providers import registry

from ..access import may_change_task, run_or_404, task_or_404, visible_snapshots
from .task_files import given
from .task_view import RunView, with_last_pictures
from .trace_answers import html

TABS = ("activity", "reasoning", "files", "snapshots", "details")


@require_safe
def show(request: HttpRequest, task_id: str) -> HttpResponse:
    task = task_or_404(request.user, task_id)
    runs = list(with_last_pictures(task.runs.select_related("task", "trace")).order_by("created_at"))
    if len(runs) == 1:
        return _run(request, runs[0])
    context = {
        "task": task,
        "views": [RunView(request.user, run) for run in runs],
        "may_change": may_change_task(request.user, task),
        "files": given(task),
        "facts": facts(task),
    }
    return html(request, "tasks/runs.html", context)


@require_safe
def run(request: HttpRequest, task_id: str, run_id: str) -> HttpResponse:
    return _run(request, run_or_404(request.user, task_id, run_id))


def _run(request: HttpRequest, run: Run) -> HttpResponse:
    view = RunView(request.user, run, request.GET.get("branch", ""))
    tab = next((name for name in TABS if name == request.GET.get("tab")), TABS[0])
    task = run.task
    siblings = list(task.runs.order_by("created_at").values_list("pk", flat=True))
    files_in, files_out = given(task), view.files
    context = {
        "view": view,
        "task": task,
        "run": run,
        "tab": tab,
        "tabs": _tabs(view, len(files_in) + len(files_out)),
        "number": siblings.index(run.pk) + 1,
        "count": len(siblings),
        "files_in": files_in,
        "files_out": files_out,
        "machine": view.machine,
        "role": view.role,
        "may_change": view.may_change,
        "facts": facts(task) if tab == "details" else None,
        "origin": visible_snapshots(request.user).filter(pk=task.snapshot).first() if task.snapshot else None,
    }
    return html(request, "tasks/run.html", context)


def _tabs(view: RunView, files: int) -> list[tuple[str, str, int]]:
    counts = {"files": files, "snapshots": len(view.snapshots)}
    return [(name, name.capitalize(), counts.get(name, 0)) for name in TABS]


def facts(task: Task) -> dict[str, object]:
    kinds = registry.kinds()
    named = task.options.get("model") or task.options.get("script") or ""
    first_line = str(named).strip().partition("\n")[0]
    return {
        "provider": kinds[task.provider].label if task.provider in kinds else task.provider,
        "model": first_line[:80],
        "network": task.network.get("mode", "off"),
        "allow": task.network.get("allow", ()),
        "checks": to_toml(task.checks),
    }
