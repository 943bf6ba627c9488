"""Images: what is built, how far a build is, what is in it, and what nobody needs any more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from sandboxes import imaging, templates
from sandboxes.errors import SandboxError
from sandboxes.images import progress, recipe, store
from sandboxes.models import ENDED
from sandboxes.registry import kinds

from ..access import admin_or_404, is_admin, visible_machines
from .cards import ImageCard, image_cards, versions

TEMPLATE_WORDS: dict[str, tuple[str, str, str]] = {
    "none": ("circle-dashed", "None yet", ""),
    "making": ("hourglass", "Being made", "wait"),
    "ready": ("check", "Ready", "pass"),
    "old": ("history", "Of an earlier build", "wait"),
}


@dataclass(frozen=True)
class Shown:
    """An image as the pages show it. `templates` are the states of its backends' templates."""

    card: ImageCard
    running: int
    build: progress.Build | None
    waiting: bool
    refusal: str
    templates: list[tuple[str, tuple[str, str, str]]]

    @property
    def busy(self) -> bool:
        return self.waiting or (self.build is not None and self.build.state == "running")

    @property
    def error(self) -> str:
        if self.busy:
            return ""
        return self.refusal or (self.build.error if self.build else "")

    @property
    def percent(self) -> int | None:
        if self.build is None or not self.build.usual:
            return None
        return min(99, round(100 * self.build.seconds / self.build.usual))


def shown(card: ImageCard, running: int) -> Shown:
    image, found = card.built, []
    if image:
        found = [(kind.label, TEMPLATE_WORDS[templates.state(kind, image)]) for kind in kinds().values()]
    build = progress.read(imaging.place_of(card.name))
    return Shown(card, running, build, imaging.waiting(card.name), imaging.refusal(card.name), found)


def in_use(request: HttpRequest) -> dict[str, int]:
    running = visible_machines(request.user).exclude(state__in=ENDED).order_by()
    return dict(running.values_list("image").annotate(Count("pk")))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    used = in_use(request)
    images = [shown(card, used.get(card.name, 0)) for card in image_cards()]
    busy = any(each.busy for each in images)
    return render(request, "images/index.html", {"images": images, "busy": busy, "may_build": is_admin(request.user)})


@require_safe
def show(request: HttpRequest, name: str) -> HttpResponse:
    card = card_or_404(name)
    search = request.GET.get("q", "").strip()[:100].lower()
    packages, python = parts(card.built) if card.built else ([], [])
    image = shown(card, in_use(request).get(name, 0))
    context = {
        "image": image,
        "search": search,
        "packages": [each for each in packages if search in each[0].lower() or search in each[1].lower()],
        "python": [each for each in python if search in each[0].lower() or search in each[1].lower()],
        "total": len(packages) + len(python),
        "kept": imaging.kept(name),
        "log": progress.log_tail(imaging.place_of(name)) if is_admin(request.user) else "",
        "may_build": is_admin(request.user),
        "has_recipe": name in recipe.names(),
        "busy": image.busy,
    }
    return render(request, "images/image.html", context)


def card_or_404(name: str) -> ImageCard:
    found = next((each for each in image_cards() if each.name == name), None)
    if found is None:
        raise Http404
    return found


def parts(image: store.Image) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    manifest: Mapping[str, Any] = image.manifest
    pinned = (str(each).partition("==")[::2] for each in manifest.get("python") or [])
    return versions(manifest.get("packages")), sorted(pinned)


@require_POST
def build(request: HttpRequest, name: str) -> HttpResponse:
    admin_or_404(request.user)
    card_or_404(name)
    try:
        imaging.request_build(name)
        messages.success(request, f"“{name}” will be built; machines that run keep the one they have.")
    except SandboxError as error:
        messages.error(request, str(error))
    return redirect("image", name)


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    admin_or_404(request.user)
    card_or_404(name)
    try:
        imaging.request_delete(name, request.POST.get("digest", ""))
        messages.success(request, "That build will be gone in a moment.")
    except SandboxError as error:
        messages.error(request, str(error))
    return redirect("image", name)
