"""What several pages show of machines and images."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.dateparse import parse_datetime

from sandboxes.errors import SandboxError
from sandboxes.images import recipe, store
from sandboxes.models import Machine, Screenshot


def with_pictures(machines: QuerySet[Machine]) -> QuerySet[Machine]:
    """Each with `picture`, the hash of what its desktop last looked like, and its owner at hand."""
    newest = Screenshot.objects.filter(machine=OuterRef("pk")).order_by("-pk").values("sha256")[:1]
    return machines.select_related("owner").annotate(picture=Subquery(newest))


@dataclass(frozen=True)
class ImageCard:
    """An image as a person knows it: what it is for, and whether it can be used now."""

    name: str
    title: str
    description: str
    built: store.Image | None

    @property
    def packages(self) -> list[tuple[str, str]]:
        return versions(self.built.manifest.get("packages")) if self.built else []

    @property
    def built_at(self) -> datetime | None:
        value = self.built.manifest.get("built") if self.built else None
        return parse_datetime(value) if isinstance(value, str) else None


def versions(packages: Any) -> list[tuple[str, str]]:
    if not isinstance(packages, Mapping):
        return []
    return sorted((str(name), str(version)) for name, version in packages.items())


def image_cards() -> list[ImageCard]:
    """Every recipe and every built image, those that can be used first."""
    built = {image.name: image for image in store.built()}
    cards = [card(name, built.get(name)) for name in sorted({*built, *recipe.names()})]
    return sorted(cards, key=lambda each: each.built is None)


def card(name: str, image: store.Image | None) -> ImageCard:
    try:
        known = recipe.load(name)
    except SandboxError:
        return ImageCard(name, name, "Made on this host; its recipe is not here any more.", image)
    return ImageCard(name, known.title, known.description, image)
