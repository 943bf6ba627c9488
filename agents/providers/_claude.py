"""What each Claude model takes. A model that is not in the table is taken for a new one."""

from dataclasses import dataclass

from ..coords import PictureLimits
from .pricing import bare_name

TOOLSET_TYPE = "computer_toolset_20260801"

LARGE = PictureLimits(long_edge=2000, patch=28, max_patches=4784)
"""2576 pixels would do, but not in a request with more than twenty pictures."""

SMALL = PictureLimits(long_edge=1568, max_pixels=1_150_000)


@dataclass(frozen=True)
class Dialect:
    """`tool` is the type of the computer tool, and `beta` the header that it needs, if any.

    `may_prune`: earlier pictures may be left out by us. Where not, the model's thinking is bound to the very
    conversation before it, and the service leaves them out itself.
    `thinks`: takes adaptive thinking and effort. Older models are asked without either.
    """

    tool: str = TOOLSET_TYPE
    beta: str = ""
    limits: PictureLimits = LARGE
    may_prune: bool = False
    thinks: bool = True

    @property
    def is_toolset(self) -> bool:
        return self.tool == TOOLSET_TYPE

    @property
    def zooms(self) -> bool:
        return self.tool != "computer_20250124"


NEW = Dialect()
_PRUNABLE = Dialect(may_prune=True)
_2025_11 = Dialect("computer_20251124", "computer-use-2025-11-24", SMALL, may_prune=True)
_2025_01 = Dialect("computer_20250124", "computer-use-2025-01-24", SMALL, may_prune=True, thinks=False)

DIALECTS = {
    "claude-fable-5-2": NEW,
    "claude-fable-5-1": NEW,
    "claude-fable-5": _PRUNABLE,
    "claude-mythos-5-2": NEW,
    "claude-mythos-5-1": NEW,
    "claude-mythos-5": _PRUNABLE,
    "claude-opus-5-5": NEW,
    "claude-opus-5": _PRUNABLE,
    "claude-opus-4-8": _PRUNABLE,
    "claude-opus-4-7": Dialect("computer_20251124", "computer-use-2025-11-24", LARGE, may_prune=True),
    "claude-opus-4-6": _2025_11,
    "claude-opus-4-5": Dialect("computer_20251124", "computer-use-2025-11-24", SMALL, may_prune=True, thinks=False),
    "claude-opus-4-1": _2025_01,
    "claude-opus-4-0": _2025_01,
    "claude-opus-4": _2025_01,
    "claude-sonnet-5-5": NEW,
    "claude-sonnet-5": _PRUNABLE,
    "claude-sonnet-4-6": _2025_11,
    "claude-sonnet-4-5": _2025_01,
    "claude-sonnet-4-0": _2025_01,
    "claude-sonnet-4": _2025_01,
    "claude-haiku-5-5": NEW,
    "claude-haiku-4-5": _2025_01,
}


def dialect(model: str) -> Dialect:
    return DIALECTS.get(bare_name(model), NEW)
