"""Which GodHand this is, and what of others it carries."""

import tomllib
from dataclasses import dataclass
from functools import cache

from django.conf import settings


@dataclass(frozen=True)
class About:
    """`parts` are the folders of `static/vendor/`: each has its licence in it."""

    version: str
    licence: str
    parts: tuple[str, ...]


@cache
def about() -> About:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    parts = sorted(folder.name for folder in (settings.BASE_DIR / "static/vendor").iterdir())
    return About(project["version"], project["license"], tuple(parts))
