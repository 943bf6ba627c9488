"""Reads a bundle that somebody gave, which may have been made to do harm."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

from .archives import Archive, Limits, changed, parsed, shown
from .blobs import HASH
from .bundle import BLOBS, EVENTS, FORMAT, MANIFEST, TRACE, BlobLine, Header, Manifest, blob_name
from .bundled import event_of, moment, short_text
from .checkedfile import CheckedFile
from .errors import BadBundle
from .events import VERSION, Recorded
from .export.base import Facts, Held
from .lineup import Lineup
from .payloads import Json, Sha256
from .pictures import FORMATS, measure
from .shapes import Misshapen, check
from .upgrade import upgrade

SMALL = 1 << 20
PICTURE = 32 << 20
MOST_EVENTS = 200_000
MEDIA_TYPE = re.compile(r"[\w.+-]{1,48}/[\w.+-]{1,48}", re.ASCII)
STATE = re.compile("[a-z_]{0,20}")


class Bundle:
    """A bundle that was given. Every method raises BadBundle, and Unreadable for a version that is not known here."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self._archive = Archive(path, limits)
        try:
            self._hashes = self._manifest()
            self._early: list[Json] | None = None
            self.facts = self._facts()
        except BaseException:
            self._archive.__exit__(None, None, None)
            raise

    def __enter__(self) -> "Bundle":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._archive.__exit__(kind, error, at)

    def events(self) -> Iterator[Recorded]:
        """In order; each follows one that came before. May be read more than once."""
        lineup = Lineup(MOST_EVENTS)
        for line in self._lines(EVENTS) if self._early is None else self._early:
            event = event_of(line)
            lineup.follow(event)
            yield event
        lineup.end()

    def blobs(self) -> Iterator[Held]:
        """Pictures have been looked at. What `open` gives raises BadBundle at its end when the hash is wrong."""
        seen: set[str] = set()
        for line in self._lines(BLOBS):
            held = self._held(line)
            if held.sha256 in seen:
                raise BadBundle(f"{BLOBS} names {held.sha256} twice.")
            seen.add(held.sha256)
            yield held
        listed = len(seen) + len(self._hashes) + 1
        if listed != sum(1 for _ in self._archive.names):
            raise BadBundle("The archive has files that its manifest does not list.")

    def _manifest(self) -> dict[str, str]:
        if MANIFEST not in self._archive:
            raise BadBundle(f"This is no bundle of GodHand: it has no {MANIFEST}.")
        found = parsed(self._archive.read(MANIFEST, SMALL), MANIFEST)
        _shaped(found, Manifest, MANIFEST)
        if found["format"] != FORMAT:
            raise BadBundle(f"This is no bundle of GodHand, but {shown(str(found['format']))}.")
        hashes = found["files"]
        if not isinstance(hashes, dict) or not all(isinstance(each, str) for each in hashes.values()):
            raise BadBundle(f"{MANIFEST} must name every file with its SHA-256.")
        for name in (TRACE, EVENTS, BLOBS, *hashes):
            if name not in hashes or name not in self._archive:
                raise BadBundle(f"{shown(name)} is missing in the bundle.")
        return hashes

    def _facts(self) -> Facts:
        header = parsed(self._archive.read(TRACE, SMALL, self._hashes[TRACE]), TRACE)
        if isinstance(header, dict) and header.get("version") in range(1, VERSION):
            header["events"] = list(self._lines(EVENTS))
        header = upgrade(header)
        self._early = header.pop("events", None)
        _shaped(header, Header, TRACE)
        try:
            created = moment(header["created_at"], "created_at")
            assert created is not None
            return Facts(
                id=short_text(header["id"], 40, "id"),
                title=header["title"],
                state=header["state"] if STATE.fullmatch(header["state"]) else "",
                meta=header["meta"] if isinstance(header["meta"], dict) else {},
                created_at=created,
                ended_at=moment(header["ended_at"], "ended_at"),
            )
        except Misshapen as problem:
            raise BadBundle(f"{TRACE} is not as it must be: {problem}.") from None

    def _lines(self, name: str) -> Iterator[Json]:
        return self._archive.lines(name, self._hashes[name])

    def _held(self, line: Json) -> Held:
        _shaped(line, BlobLine, f"A line of {BLOBS}")
        sha256, media_type = line["sha256"], line["media_type"]
        if not HASH.fullmatch(sha256) or not MEDIA_TYPE.fullmatch(media_type):
            raise BadBundle(f"{BLOBS} has a line without a SHA-256 or a type: {shown(sha256)}, {shown(media_type)}.")
        name = blob_name(sha256, media_type)
        size = self._archive.size(name)
        width = height = None
        if media_type in FORMATS:
            width, height = self._measured(name, media_type)
        return Held(Sha256(sha256), media_type, size, width, height, lambda: self._opened(name, sha256))

    @contextmanager
    def _opened(self, name: str, sha256: str) -> Iterator[BinaryIO]:
        with self._archive.open(name) as file:
            yield cast(BinaryIO, CheckedFile(file, sha256, BadBundle(changed(name))))

    def _measured(self, name: str, media_type: str) -> tuple[int, int]:
        try:
            return measure(self._archive.read(name, PICTURE), media_type)
        except ValueError as problem:
            raise BadBundle(f"The picture {name} {problem}.") from None


def _shaped(value: Json, wanted: Any, what: str) -> None:
    try:
        check(value, wanted)
    except Misshapen as problem:
        raise BadBundle(f"{what} is not as it must be: {problem}.") from None
