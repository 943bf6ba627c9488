"""A trace as one zip file, and back.

manifest.json             what this is, and the SHA-256 of each file below
trace.json                title, state, times, and what a page shows of the task
events.jsonl              one event per line, in order
blobs.jsonl               one blob per line: its SHA-256, which is also its name, with size and type
blobs/<sha256>.<suffix>   pictures and files, stored as they are
atif/<branch>.json        each branch once more, for other programs
index.html                the page of the trace with small pictures, for people
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, TypedDict, cast

from .blobs import CHUNK, SUFFIXES
from .events import VERSION
from .export.base import Facts, Held
from .payloads import Json

FORMAT = "godhand-trace"
MANIFEST, TRACE, EVENTS, BLOBS = "manifest.json", "trace.json", "events.jsonl", "blobs.jsonl"
PAGE = "index.html"

Line = Callable[[Json], object]


class Header(TypedDict):
    version: int
    id: str
    title: str
    state: str
    meta: Json
    created_at: str
    ended_at: str | None


class BlobLine(TypedDict):
    sha256: str
    media_type: str
    size: int
    width: int | None
    height: int | None


class Manifest(TypedDict):
    format: str
    files: Json


class BundleWriter:
    """Everything that is added is in the manifest, which comes last. Bytes depend on the trace alone."""

    def __init__(self, out: Path, facts: Facts) -> None:
        self._zip = zipfile.ZipFile(out, "w", allowZip64=True)
        self._at = facts.created_at.timetuple()[:6]
        self._hashes: dict[str, str] = {}
        self._facts = facts

    def __enter__(self) -> "BundleWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.text(TRACE, encoded(_header(self._facts)))
            manifest: Manifest = {"format": FORMAT, "files": dict(sorted(self._hashes.items()))}
            self._zip.writestr(self._info(MANIFEST, zipfile.ZIP_DEFLATED), json.dumps(manifest, indent=1))
        self._zip.close()

    def text(self, name: str, data: bytes) -> None:
        self._hashes[name] = hashlib.sha256(data).hexdigest()
        self._zip.writestr(self._info(name, zipfile.ZIP_DEFLATED), data)

    @contextmanager
    def lines(self, name: str) -> Iterator[Line]:
        with self._hashed(name) as file:
            yield lambda value: file.write(encoded(value) + b"\n")

    @contextmanager
    def page(self, name: str) -> Iterator[IO[str]]:
        with self._hashed(name) as file, io.TextIOWrapper(cast(BinaryIO, file), encoding="utf-8") as out:
            yield out

    @contextmanager
    def _hashed(self, name: str) -> Iterator["Hashed"]:
        with self._zip.open(self._info(name, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as file:
            hashed = Hashed(file)
            yield hashed
        self._hashes[name] = hashed.digest.hexdigest()

    def blob(self, held: Held) -> BlobLine:
        """Raises Damaged."""
        info = self._info(blob_name(held.sha256, held.media_type), zipfile.ZIP_STORED)
        with self._zip.open(info, "w", force_zip64=True) as file, held.open() as source:
            while chunk := source.read(CHUNK):
                file.write(chunk)
        return {
            "sha256": held.sha256,
            "media_type": held.media_type,
            "size": held.size,
            "width": held.width,
            "height": held.height,
        }

    def _info(self, name: str, compression: int) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, date_time=self._at)
        info.compress_type = compression
        info.external_attr = 0o644 << 16
        return info


class Hashed(io.BufferedIOBase):
    """Knows the hash of what was written through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)


def encoded(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def blob_name(sha256: str, media_type: str) -> str:
    return f"blobs/{sha256}.{SUFFIXES.get(media_type, 'bin')}"


def _header(facts: Facts) -> Header:
    return {
        "version": VERSION,
        "id": facts.id,
        "title": facts.title,
        "state": facts.state,
        "meta": facts.meta,
        "created_at": facts.created_at.isoformat(),
        "ended_at": facts.ended_at.isoformat() if facts.ended_at else None,
    }
