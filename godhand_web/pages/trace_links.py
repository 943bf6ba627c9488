"""Where everything about a trace is found, and what a visitor asked to see of it."""

import re
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote, urlencode

from django.http import QueryDict
from django.urls import NoReverseMatch, reverse

TABS = ("action", "reasoning", "observation", "model", "files", "notes")
VIEWS = ("before", "action", "after", "diff", "slider")
RUN = re.compile(r"(\d{1,12})-(\d{1,12})")


@dataclass(frozen=True)
class Wanted:
    """The state of the page, as its address says it. `opened` is a run of steps that the tree shows one by one."""

    step: int | None = None
    branch: str = ""
    tab: str = TABS[0]
    view: str = VIEWS[1]
    all_steps: bool = False
    opened: tuple[int, int] | None = None
    rows: int | None = None
    search: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> Self:
        """What makes no sense is left out."""
        run = RUN.fullmatch(query.get("open", ""))
        tab, view = query.get("tab", ""), query.get("view", "")
        return cls(
            step=number(query.get("step")),
            branch=query.get("branch", ""),
            tab=tab if tab in TABS else TABS[0],
            view=view if view in VIEWS else VIEWS[1],
            all_steps=query.get("all") == "1",
            opened=(int(run[1]), int(run[2])) if run else None,
            rows=number(query.get("rows")),
            search=query.get("q", "").strip()[:200],
        )

    def query(self) -> str:
        """The shortest that `read` understands as this."""
        usual = Wanted()
        fields: dict[str, object] = {
            "step": self.step or "",
            "branch": self.branch,
            "tab": "" if self.tab == usual.tab else self.tab,
            "view": "" if self.view == usual.view else self.view,
            "all": "1" if self.all_steps else "",
            "open": f"{self.opened[0]}-{self.opened[1]}" if self.opened else "",
            "rows": "" if self.rows is None else self.rows,
            "q": self.search,
        }
        return urlencode({name: value for name, value in fields.items() if value != ""})


def number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 12 else None


@dataclass(frozen=True)
class Links:
    """Every address below one base, which ends with a slash. `static/js/lib/trace-source.js` knows the same ones.

    A subclass may put the things themselves there, as data: addresses.
    """

    base: str
    wanted: Wanted = Wanted()

    def page(self, **changes: object) -> str:
        """The page as it is, but for the changes."""
        query = replace(self.wanted, **changes).query()  # type: ignore[arg-type]
        return f"{self.base}?{query}" if query else self.base

    def step(self, seq: int) -> str:
        return self.page(step=seq)

    def run(self, first: int, last: int) -> str:
        """The page with a run of steps shown one by one."""
        return self.page(opened=(first, last))

    def picture(self, sha256: str) -> str:
        return f"{self.base}pictures/{sha256}"

    def thumb(self, sha256: str) -> str:
        return f"{self.base}thumbs/{sha256}.webp"

    def sheet(self, branch: str, first: int, last: int) -> str:
        return f"{self.base}sheets/{first}-{last}.webp?branch={quote(branch, safe='')}"

    def file(self, seq: int) -> str:
        return f"{self.base}files/{seq}/"


def elsewhere(name: str, *about: str) -> str:
    """The address of another page; empty when there is none."""
    try:
        return reverse(name, args=about)
    except NoReverseMatch:
        return ""
