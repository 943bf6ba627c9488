"""Every key of every page, for the list in the settings. The pages themselves say theirs in `data-key` and `?`."""

from ..context import PLACES

Keys = tuple[tuple[str, str], ...]

GROUPS: tuple[tuple[str, Keys], ...] = (
    (
        "Anywhere",
        (
            *((place.key, place.title) for place in PLACES if place.key),
            ("n", "New task"),
            ("/", "Search, where there is something to search"),
            ("?", "The keys of this page"),
            ("Esc", "Close"),
            ("Ctrl Enter", "Send the form"),
        ),
    ),
    (
        "A run",
        (
            ("p", "Pause, resume"),
            ("s", "Snapshot now"),
            ("m", "Send a note"),
            ("t", "Take over"),
            ("L", "Jump to live"),
            ("1 … 5", "Activity, reasoning, files, snapshots, details"),
        ),
    ),
    (
        "A machine",
        (
            ("t", "Take control, take over"),
            ("s", "Save a screenshot"),
            ("k", "Keep a snapshot"),
            ("z", "Stop, saved whole"),
            ("r", "Resume"),
            ("f", "Full window"),
            ("1 2 3 4", "Activity, snapshots, details, logs"),
            ("← →", "Previous, next screenshot"),
            ("w", "The wall, from the list of machines"),
            ("Ctrl Alt Shift", "Leave a desktop that you drive"),
        ),
    ),
    (
        "A trace",
        (
            ("← → k j", "Previous, next step"),
            ("h l", "Previous, next branch"),
            ("Shift ← →", "Previous, next marked step"),
            (", .", "Previous, next error"),
            ("g g G", "First, last step"),
            ("Space", "Play, pause"),
            ("< >", "Slower, faster"),
            ("1 … 6", "Action, reasoning, observation, model, files, notes"),
            ("b a d", "Before, after, difference"),
            ("m", "Marks on, off"),
            ("f", "Full window"),
            ("/ n N", "Search; next, previous hit"),
            ("r", "Run from here"),
            ("x", "Choose this branch for comparing"),
            ("v", "Where branches first part"),
            ("c", "Copy a link to this step"),
            ("L", "Jump to live"),
        ),
    ),
    (
        "A comparison",
        (
            ("1 2 3", "Side by side, slider, blink"),
            ("b a", "Before, after"),
            ("k j", "Previous, next row"),
            ("u", "Scrub both together, or each alone"),
            ("v", "Where they first part"),
        ),
    ),
)
"""What a key does, by the page that it acts on. Several keys in one line are set apart by a space."""
