"""A trace as one HTML file: the same page, with everything it could ask for inside.

Pictures, and what is asked for step by step, are in elements of their own at the end, so that the page opens at once.
Its policy lets nothing run but its own script, and lets nothing be fetched.
"""

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, Any

from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import timezone

from traces import replica, words
from traces.errors import Damaged
from traces.events import Recorded
from traces.export.base import Held, Material, Progress
from traces.models import Blob, Event, Trace, Words
from traces.payloads import Sha256
from traces.queries import stored
from traces.rows import rows
from traces.steps import Status, Step
from traces.storage import default_store
from traces.thumbs import SHEET, sheet, thumbnail

from .. import inlining
from ..templatetags.godhand import SPRITE
from .trace_answers import DetailView
from .trace_details import PICTURES, Details
from .trace_links import TABS, Links, Wanted
from .trace_rows import RowCard, TreeView, kept, part, run_view
from .trace_steps import cards, path_data
from .trace_view import TraceView

SCRIPT = "js/pages/file.js"
STYLES = (
    *("fonts", "tokens", "base", "shell", "parts", "overlays", "forms", "lists", "pages", "shares"),
    *("trace", "trace-stage", "trace-film", "trace-window", "trace-tree", "trace-detail", "file"),
)
WITHOUT_NOTES = tuple(tab for tab in TABS if tab != "notes")
LARGEST_FILE = 2 << 20
PICTURE = re.compile(r'"#picture-([0-9a-f]{64})"')
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class FileLinks(Links):
    """Addresses within the page; the script puts what they name in their place."""

    def page(self, **changes: object) -> str:
        return f"#{replace(self.wanted, **changes).query()}"  # type: ignore[arg-type]

    def picture(self, sha256: str) -> str:
        return f"#picture-{sha256}"

    def thumb(self, sha256: str) -> str:
        return self.picture(sha256)

    def file(self, seq: int) -> str:
        return f"#file-{seq}"


@dataclass(frozen=True)
class FileDetails(Details):
    """What was read on screens is stored beside the trace, so it is cleaned here."""

    clean: Callable[[str], str] = str

    @property
    def words(self) -> str:
        return self.clean(super().words)


class FileView(TraceView):
    tabs = WITHOUT_NOTES

    @cached_property
    def tree(self) -> TreeView:
        """All rows; runs are opened with what is in the page."""
        found = rows(
            self.outline.steps, self.outline.lanes, show_all=False, keep=kept(self.outline, self.wanted, self.current)
        )
        view = part(self.trace.pk, self.outline, self.branches, found)
        view.count = len(found)
        return view

    @cached_property
    def data(self) -> dict[str, Any]:
        names = {key: f"sheet-{number}" for number, key in enumerate(self.sheets)}
        return {**super().data, "inline": {"sheets": names}}

    @cached_property
    def sheets(self) -> dict[str, list[Sha256 | None]]:
        """What is on each sheet, by branch and number. A step that saw nothing shows what was seen last."""
        found = {}
        for branch in self.branches:
            seen: list[Sha256 | None] = [None]
            for step in self.outline.path(branch):
                seen.append(step.after or seen[-1])
            for number, start in enumerate(range(1, len(seen), SHEET)):
                found[f"{branch}/{number}"] = seen[start : start + SHEET]
        return found


def write(material: Material, out: IO[str], progress: Progress, *, small: bool = False) -> None:
    """Raises Damaged, DiskFull and Cancelled. The page is made of a clean copy that lives no longer than this."""
    source = Trace.objects.get(pk=material.facts.id)
    copy = replicated(material, source, progress)
    try:
        FileWriter(copy, material, out, progress, small).write()
    finally:
        copy.delete()


def replicated(material: Material, source: Trace, progress: Progress) -> Trace:
    progress.expect(material.count(), "Reading events")
    events: list[Recorded] = []
    held: dict[Sha256, Held] = {}
    for event in material.events():
        events.append(event)
        held |= {sha256: material.blob(sha256) for sha256 in material.named(event)}
        progress.advance()
    for one in held.values():
        default_store().add(one.read(), one.media_type)
    blobs = [
        Blob(sha256=sha256, media_type=one.media_type, size=one.size, width=one.width, height=one.height)
        for sha256, one in held.items()
    ]
    facts = replace(material.facts, ended_at=material.facts.ended_at or timezone.now())
    return replica.write(source.owner, facts, events, blobs, copy_of=source.pk)


class FileWriter:
    def __init__(self, trace: Trace, material: Material, out: IO[str], progress: Progress, small: bool) -> None:
        self.trace, self.material, self.out, self.progress, self.small = trace, material, out, progress, small
        self.view = FileView(trace, FileLinks(""))
        self.blobs = {Sha256(blob.pk): blob for blob in Blob.objects.filter(references__trace=trace)}

    def write(self) -> None:
        script, style = inlining.script(SCRIPT), inlining.style(*(f"css/{name}.css" for name in STYLES))
        policy = POLICY.format(script=inlining.fingerprint(script), style=inlining.fingerprint(style))
        context = {
            "trace": self.trace,
            "view": self.view,
            "others": {},
            "policy": policy,
            "style": style,
            "sprite": inlining.sprite(SPRITE),
            "small": self.small,
        }
        page = self._text("traces/file.html", context)
        self.out.write(PICTURE.sub(lambda found: f'"{self._picture(Sha256(found[1]))}"', page))
        rest = gzip.compress(json.dumps(self._rest()).encode(), 6, mtime=0)
        self._put("trace-packed", base64.b64encode(rest).decode())
        self._put_pictures()
        self._put_sheets()
        self._put_files()
        self.out.write(f'<script type="module">{script}</script>\n</body>\n</html>\n')

    def _rest(self) -> dict[str, Any]:
        """What the page asks for step by step."""
        shape = self.view.outline
        numbers = {step.seq: shape.numbers[step.id] for step in shape.steps}
        found = cards(self.trace.pk, numbers)
        words.update(self.trace.pk)
        texts = Words.objects.filter(trace=self.trace).values_list("event__seq", "text")
        return {
            "paths": {branch: path_data(shape.path(branch), shape) for branch in self.view.branches},
            "steps": {card.step.seq: card.as_json() for card in found},
            "details": dict(self._details(found)),
            "runs": self._runs(),
            "words": {seq: self.material.clean(text) for seq, text in texts},
        }

    def _details(self, found: list[Any]) -> Iterator[tuple[str, str]]:
        self.progress.expect(len(found), "Writing steps")
        for card in found:
            details = FileDetails(self.trace.pk, card, self.material.clean)
            for tab in WITHOUT_NOTES:
                links = FileLinks("", Wanted(step=card.step.seq, tab=tab))
                view = FileDetailView(self.trace, links, details)
                yield f"{card.step.seq}/{tab}", self._text("traces/_detail.html", {"view": view})
            self.progress.advance()

    def _runs(self) -> dict[str, str]:
        """The rows of every run of the tree, and of the runs within long ones."""
        found: dict[str, str] = {}
        waiting = _runs_in(self.view.tree.rows)
        while waiting:
            first, last = waiting.pop()
            key = f"{first}-{last}"
            wanted = replace(self.view.wanted, opened=(first, last))
            run = run_view(self.trace.pk, self.view.outline, self.view.branches, wanted)
            found[key] = self._text("traces/_rows.html", {"view": self.view, "tree": run, "run": key})
            waiting += [inner for inner in _runs_in(run.rows) if f"{inner[0]}-{inner[1]}" not in found]
        return found

    def _put_pictures(self) -> None:
        pictures = [sha256 for sha256, blob in self.blobs.items() if blob.media_type in PICTURES]
        self.progress.expect(len(pictures), "Adding pictures")
        for sha256 in pictures:
            self._put(f"picture-{sha256}", self._picture(sha256))
            self.progress.advance()

    def _put_sheets(self) -> None:
        self.progress.expect(len(self.view.sheets), "Adding small pictures")
        for number, shas in enumerate(self.view.sheets.values()):
            self._put(f"sheet-{number}", _address(sheet(shas), "image/webp"))
            self.progress.advance()

    def _put_files(self) -> None:
        for seq, data in Event.objects.filter(trace=self.trace, kind="file").values_list("seq", "data"):
            blob = self.blobs.get(data["sha256"])
            if blob is not None and blob.size <= LARGEST_FILE:
                self._put(f"file-{seq}", _address(stored(Sha256(blob.pk)).data, "application/octet-stream"))

    def _picture(self, sha256: Sha256) -> str:
        """In full, unless the file is to be small and there is nothing special about the step."""
        try:
            if self.small and sha256 not in self._key_screens:
                return _address(thumbnail(sha256), "image/webp")
            blob = self.blobs[sha256]
            return _address(stored(sha256).data, blob.media_type)
        except (Damaged, KeyError):
            return ""

    @cached_property
    def _key_screens(self) -> set[Sha256]:
        shape = self.view.outline
        ends = {lane.last for lane in shape.lanes} | {lane.first for lane in shape.lanes}
        special = [step for step in shape.steps if step.id in ends or step.id in shape.forked or _stands_out(step)]
        return {sha256 for step in special for sha256 in (step.before, step.after) if sha256}

    def _put(self, name: str, text: str) -> None:
        self.out.write(f'<script type="text/plain" id="{name}">{text}</script>\n')

    def _text(self, template: str, context: dict[str, Any]) -> str:
        whole = render_to_string(template, context).encode("utf-8", "replace").decode()
        return whole.replace(f"{static(SPRITE)}#", "#").replace(self.trace.pk, self.material.facts.id)


@dataclass(frozen=True)
class FileDetailView(DetailView):
    tabs = WITHOUT_NOTES


def _stands_out(step: Step) -> bool:
    return step.kind == "verify" or step.by_person or step.status in (Status.FAILED, Status.UNCERTAIN, Status.REFUSED)


def _runs_in(found: list[RowCard]) -> list[tuple[int, int]]:
    return [(card.step.seq, card.last_seq) for card in found if card.row.step is None]


def _address(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
