"""The page that starts a task: one prompt, and a default for everything else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from agents import api
from agents.check_text import to_toml
from agents.errors import AgentError
from agents.examples import DEMO, EXAMPLES, Example
from agents.models import OnHelp, Task
from sandboxes.errors import SandboxError
from traces.errors import TraceError

from ..access import changeable_schedule_or_404, maker_or_403, task_or_404
from ..context import slots_used
from ..models import User
from . import schedule_task
from .cards import image_cards
from .preferences import usual_limits
from .schedule_preview import EXAMPLES as WHEN_EXAMPLES
from .schedule_preview import preview_of, usual_zone
from .task_attach import Waiting, bundled, by_name, of_task, returned, uploaded
from .task_checks import CHECK_KINDS, explained
from .task_form import NETWORKS, SNIPPETS, NewTask
from .task_models import Model, Option, usual
from .task_plan import initial_of
from .task_python import in_python
from .task_secrets import given, held
from .task_stages import usual_seconds
from .task_start import origins

MENUS = {
    "check_kinds": CHECK_KINDS,
    "when_examples": WHEN_EXAMPLES,
    "networks": NETWORKS,
    "snippets": SNIPPETS.items(),
    "on_help": OnHelp.choices,
    "examples": EXAMPLES.values(),
}
TROUBLE = (AgentError, SandboxError, TraceError)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    person = maker_or_403(request.user)
    if request.method != "POST":
        form, files = _begun(request, person)
        return _page(request, form, files)
    form = NewTask(person, request.POST)
    files = _files(request, person, form)
    secrets, trouble = given(person, request.POST)
    if trouble:
        form.blame(trouble)
    wants_code = "show" in request.POST
    if form.is_valid() and not wants_code:
        made = _made(person, form, files, {**schedule_task.staying(person, form, request.POST), **secrets})
        if made is not None:
            return redirect(made)
    return _page(request, form, files, secrets, code=wants_code)


@require_POST
def demo(request: HttpRequest) -> HttpResponse:
    """The first example, as it is: no form, no key."""
    person, example = maker_or_403(request.user), EXAMPLES[DEMO]
    try:
        run = api.submit(
            person,
            example.goal,
            provider="scripted",
            options={"script": example.script},
            checks=example.checks,
            attachments=example.attachments(),
        )
    except TROUBLE as error:
        form = NewTask(person, initial=_of_example(example))
        form.cleaned_data = {}
        form.blame(error)
        return _page(request, form, bundled(example.files))
    return redirect("task", run.task_id)


def _made(person: User, form: NewTask, files: Iterable[Waiting], secrets: dict[str, str]) -> str | None:
    """The address of what was made of it; None when somebody refused, which the form then says."""
    attachments = {file.name: file.content for file in files}
    call = {**form.call(), "attachments": attachments, "secrets": secrets}
    try:
        if form.recurs:
            return reverse("schedule", args=[schedule_task.save(person, form, call).pk])
        return reverse("task", args=[api.submit(person, **call).task_id])
    except TROUBLE as error:
        form.blame(error)
        return None


def _files(request: HttpRequest, person: User, form: NewTask) -> list[Waiting]:
    """Whatever came with the form, in the order in which it was attached."""
    form.is_valid()
    found = bundled(request.POST.getlist("bundled"))
    for read, sent in ((returned, request.POST.getlist("kept")), (uploaded, request.FILES.getlist("files"))):
        for each in sent:
            try:
                found.append(read(person, each))  # type: ignore[arg-type]
            except TROUBLE as error:
                form.blame(error)
    return list(by_name(found).values())


def _begun(request: HttpRequest, person: User) -> tuple[NewTask, list[Waiting]]:
    """The form as the address asks for it: an example, another task once more, a snapshot, an image."""
    asked = request.GET
    initial: dict[str, Any] = {"start": "image:desktop", "zone": usual_zone(person), **usual_limits(request)}
    files: list[Waiting] = []
    if asked.get("example") in EXAMPLES:
        example = EXAMPLES[asked["example"]]
        initial, files = {**initial, **_of_example(example)}, bundled(example.files)
    elif "like" in asked:
        task = task_or_404(person, asked["like"])
        initial, files = {**initial, **_of_task(task)}, of_task(person, task)
    if "schedule" in asked:
        initial |= schedule_task.begun(changeable_schedule_or_404(person, asked["schedule"]))
    elif "recurs" in asked:
        initial["timing"] = "schedule"
    if asked.get("trace") and asked.get("step"):
        initial |= {"start": "step", "step_link": f"{asked['trace']} {asked['step']}"}
    for what in ("image", "snapshot"):
        if asked.get(what):
            initial["start"] = f"{what}:{asked[what]}"
    return NewTask(person, initial={**initial, **({"goal": asked["goal"]} if asked.get("goal") else {})}), files


def _of_example(example: Example) -> dict[str, Any]:
    script = {"provider": "scripted", "scripted-script": example.script} if example.script else {}
    return {"goal": example.goal, "checks": example.checks, **initial_of(example.plan), **script}


def _of_task(task: Task) -> dict[str, Any]:
    options = {f"{task.provider}-{name}": value for name, value in task.options.items()}
    return {
        "goal": task.goal,
        "start": f"snapshot:{task.snapshot}" if task.snapshot else f"image:{task.image}",
        "provider": task.provider,
        "network": task.network.get("mode", "off"),
        "allow": "\n".join(task.network.get("allow", ())),
        "on_help": task.on_help,
        "checks": to_toml(task.checks),
        "keep_machine": task.keep_machine,
        **initial_of(task.plan),
        **{name: f"{value:g}" for name, value in task.limits.items()},
        **options,
    }


@dataclass(frozen=True)
class Card:
    """A model with its fields as they are filled in now."""

    model: Model
    first: list[tuple[Option, BoundField]]
    more: list[tuple[Option, BoundField]]


def _cards(form: NewTask) -> list[Card]:
    def bound(options: Iterable[Option]) -> list[tuple[Option, BoundField]]:
        return [(option, form[option.field]) for option in options]

    return [Card(model, bound(model.first), bound(model.more)) for model in form.models]


def _code(person: User, form: NewTask, names: list[str], secrets: Iterable[str]) -> str:
    data = form.cleaned_data
    when = (data["when"], data["zone"], data["catch_up"]) if form.recurs else None
    return in_python(person.username, form.call(), names, secrets=secrets, when=when)


def _page(
    request: HttpRequest,
    form: NewTask,
    files: list[Waiting],
    secrets: dict[str, str] | None = None,
    *,
    code: bool = False,
) -> HttpResponse:
    assert isinstance(request.user, User)
    valid = form.is_bound and not form.errors
    chosen = str(form["start"].value() or "")
    stay = schedule_task.staying(request.user, form, request.POST)
    names = [*(file.name for file in files), *request.POST.getlist("names")]
    context = {
        "form": form,
        "files": files,
        "cards": _cards(form),
        "images": [(card, usual_seconds(card.name)) for card in image_cards()],
        "origins": origins(request.user, chosen.removeprefix("snapshot:")),
        "secrets": held(request.user, secrets or {}),
        "sealed": {name: name in stay for name in schedule_task.sealed(request.user, form)},
        "preview": preview_of(form["when"].value(), form["zone"].value()),
        "explained": explained(form["checks"].value() or ""),
        "has_key": not form.models[0].trouble and usual(form.models) != "scripted",
        "full": slots_used() >= settings.MACHINE_SLOTS,
        "shows_code": code,
        "code": _code(request.user, form, names, {**stay, **(secrets or {})}) if valid else "",
    }
    wrong = form.is_bound and bool(form.errors)
    return render(request, "tasks/new.html", {**MENUS, **context}, status=400 if wrong and not code else 200)
