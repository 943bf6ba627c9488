"""Names for files, from text that others wrote."""

import re
from collections.abc import Iterable
from datetime import datetime

TITLE = 60
BYTES = 150


def file_name(title: str, at: datetime, suffix: str) -> str:
    """Says what and when: `Pivot the sheet 2026-03-01 14.05.mp4`."""
    words = " ".join(re.sub(r"[^\w .,()+-]", " ", title).split())[:TITLE]
    short = words.encode(errors="ignore")[:BYTES].decode(errors="ignore").strip(" .")
    return f"{short or 'Trace'} {at:%Y-%m-%d %H.%M}.{suffix}"


def branch_names(branches: Iterable[str]) -> dict[str, str]:
    """For each branch a name without surprises, that no other has."""
    names: dict[str, str] = {}
    for branch in branches:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", branch)[:40] or "_"
        taken = set(names.values())
        names[branch] = plain if plain not in taken else f"{plain}-{len(taken)}"
    return names
