"""Every key of every page: for the sheet that `?` opens there, and for the list of all of them in the settings."""

from dataclasses import dataclass

from ..context import PLACES


@dataclass(frozen=True)
class Keys:
    """What each does. Several in one line are set apart by a space."""

    title: str
    lines: tuple[tuple[str, str], ...]


GROUPS = {
    "anywhere": Keys(
        "Anywhere",
        (
            *((place.key, place.title) for place in PLACES if place.key),
            ("n", "New task"),
            ("/", "Search: in this page, or else in all traces"),
            ("?", "The keys of this page"),
            ("Esc", "Close"),
            ("Ctrl Enter", "Send the form"),
        ),
    ),
    "run": Keys(
        "A run",
        (
            ("p", "Pause, resume"),
            (".", "One step, and rest before the next"),
            ("s", "Snapshot now"),
            ("t", "Take over"),
            ("Ctrl Alt Shift", "Hand back"),
            ("m", "Write a note"),
            ("Ctrl Enter", "Send the note"),
            ("L", "Jump to live"),
            ("1 … 5", "Activity, reasoning, files, snapshots, details"),
            ("f", "Full window"),
        ),
    ),
    "machine": Keys(
        "A machine",
        (
            ("t", "Take control, take over"),
            ("Ctrl Alt Shift", "Leave a desktop that you drive"),
            ("s", "Save a screenshot"),
            ("k", "Keep a snapshot"),
            ("z", "Stop, saved whole"),
            ("r", "Resume"),
            ("1 2 3 4 5", "Activity, snapshots, resources, logs, details"),
            ("f", "Full window"),
        ),
    ),
    "screenshot": Keys("A screenshot", (("← →", "Earlier, later"),)),
    "machines": Keys("The list of machines", (("w", "As a wall"), ("/", "Search"), ("Esc", "Select none"))),
    "wall": Keys(
        "The wall",
        (
            ("← → ↑ ↓", "Move"),
            ("Enter", "Open"),
            ("Space", "Select"),
            ("Esc", "Select none"),
            ("p", "Keep live"),
            ("u", "Pause previews"),
            ("i", "As a list"),
        ),
    ),
    "trace": Keys(
        "A trace",
        (
            ("← → k j", "Previous, next step"),
            ("h l", "Previous, next branch"),
            ("Shift ← →", "Previous, next marked step: error, person, fork"),
            (", .", "Previous, next error"),
            ("g g G", "First, last step"),
            ("Space", "Play, pause"),
            ("< >", "Slower, faster"),
            ("1 … 6", "Action, reasoning, observation, model, files, notes"),
            ("b a d", "Before, after, difference"),
            ("m", "Marks on, off"),
            ("f", "Full window"),
            ("/ n N", "Search; next, previous hit"),
            ("r", "Run from here: new branches from this step"),
            ("x", "Choose this branch for comparing"),
            ("v", "Where branches first part"),
            ("c", "Copy a link to this step"),
            ("L", "Jump to live"),
        ),
    ),
    "compare": Keys(
        "A comparison",
        (
            ("v", "Where they first part"),
            ("k j ← →", "Previous, next row"),
            (", .", "Previous, next difference"),
            ("Home End", "First, last row"),
            ("1 2 3", "Side by side, slider, blink"),
            ("b a", "Before, after"),
            ("u", "Scrub both together, or each alone"),
        ),
    ),
}
"""By the page on which they act."""
