"""Variables that look like settings of ours and are none: whoever mistypes one hears of it."""

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches

from .bootstrap import ROOT

DOCUMENTED = ROOT / "docs" / "settings.md"


def mistyped() -> Iterator[str]:
    known = re.findall(r"^\| `(GODHAND_[A-Z_]+)`", DOCUMENTED.read_text(), re.MULTILINE)
    for name in sorted(os.environ):
        if name.startswith("GODHAND_") and name.removesuffix("_FILE") not in known:
            near = get_close_matches(name, known, 1)
            fix = f"did you mean {near[0]}?" if near else "docs/settings.md lists them"
            yield f"{name} is no setting: {fix}"
