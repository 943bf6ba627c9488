"""Zip files that may have been made by an attacker: what they hold is known before anything is unpacked.

Files only, stored or deflated: no link, no device, nothing encrypted, no name twice, and no name that is absolute,
leads up, or hides characters. Not deeper than 4 folders, and no more bytes, files and compression than the limits
allow. Each is refused in a sentence. Nothing is written anywhere: a caller reads the files it knows by name.
"""

import hashlib
import json
import math
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from .errors import BadBundle
from .payloads import Json
from .zipends import count_entries

CHUNK = 1 << 20
DEPTH = 4
NAME = 200
LINE = 2 << 20
"""Bytes of JSON that are read at once: parsed, they can take twenty times as many."""

NESTING = 64
LARGEST = 2**63
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1


@dataclass(frozen=True)
class Limits:
    """`ratio` is for files that unpack to more than a mebibyte: small ones may be as repetitive as they like."""

    bytes: int = 4 << 30
    files: int = 60_000
    ratio: int = 200


class Archive:
    """Raises BadBundle from every method."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        allowed = limits or Limits()
        count_entries(path, allowed.files)
        with _plain_words():
            self._zip = zipfile.ZipFile(path)
        try:
            self._files = _checked(self._zip.infolist(), allowed)
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._files

    @property
    def names(self) -> Iterator[str]:
        return iter(self._files)

    def size(self, name: str) -> int:
        return self._info(name).file_size

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        info = self._info(name)
        with _plain_words(), self._zip.open(info) as file:
            yield file

    def read(self, name: str, limit: int, sha256: str | None = None) -> bytes:
        """All of a file of at most `limit` bytes."""
        if self.size(name) > limit:
            raise BadBundle(f"{name} is larger than {limit >> 20 or 1} MB.")
        with self.open(name) as file:
            data = file.read(limit + 1)
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
            raise BadBundle(changed(name))
        return data

    def lines(self, name: str, sha256: str) -> Iterator[Json]:
        """The JSON of each line. What came before a wrong hash is found out has been given already."""
        digest = hashlib.sha256()
        with self.open(name) as file:
            number = 0
            while line := file.readline(LINE + 1):
                number += 1
                if len(line) > LINE:
                    raise BadBundle(f"Line {number} of {name} is longer than {LINE >> 20} MB.")
                digest.update(line)
                yield parsed(line, f"Line {number} of {name}")
        if digest.hexdigest() != sha256:
            raise BadBundle(changed(name))

    def _info(self, name: str) -> zipfile.ZipInfo:
        if name not in self._files:
            raise BadBundle(f"{name} is missing in the archive.")
        return self._files[name]


def changed(name: str) -> str:
    return f"{name} is not what its SHA-256 says: it was changed or damaged on the way."


def parsed(data: bytes, what: str) -> Json:
    """Strict JSON: no NaN, no number beyond 64 bits, not nested deeper than 64 levels. Raises BadBundle."""
    try:
        value = json.loads(data.decode(), parse_constant=_no_number)
        _bounded(value, NESTING)
    except (ValueError, RecursionError) as error:
        raise BadBundle(f"{what} is no JSON that can be read: {_why(error)}.") from None
    return value


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8"
    return str(error).partition(":")[0].lower() if isinstance(error, json.JSONDecodeError) else str(error)


def _bounded(value: Json, levels: int) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number is too large")
    elif isinstance(value, int):
        if not -LARGEST <= value < LARGEST:
            raise ValueError("a number is too large")
    elif isinstance(value, dict | list):
        if not levels:
            raise ValueError("it is nested too deep")
        for item in value.values() if isinstance(value, dict) else value:
            _bounded(item, levels - 1)


def _checked(entries: list[zipfile.ZipInfo], allowed: Limits) -> dict[str, zipfile.ZipInfo]:
    files: dict[str, zipfile.ZipInfo] = {}
    total = 0
    for entry in entries:
        _check_name(entry.orig_filename)
        if entry.is_dir():
            continue
        if entry.filename in files:
            raise BadBundle(f"The archive has {shown(entry.filename)} twice.")
        _check_entry(entry, allowed)
        total += entry.file_size
        if total > allowed.bytes:
            raise BadBundle(f"Unpacked, the archive would be larger than {allowed.bytes >> 20} MB.")
        files[entry.filename] = entry
    return files


def _check_name(name: str) -> None:
    parts = name.removesuffix("/").split("/")
    if not name.isprintable() or "\\" in name or ":" in name or any(part in ("", ".", "..") for part in parts):
        raise BadBundle(f"The archive has a file with an unsafe name: {shown(name)}.")
    if len(name) > NAME:
        raise BadBundle(f"The archive has a file whose name is longer than {NAME} characters.")
    if len(parts) > DEPTH:
        raise BadBundle(f"The archive has folders deeper than {DEPTH} levels.")


def _check_entry(entry: zipfile.ZipInfo, allowed: Limits) -> None:
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise BadBundle(f"{entry.filename} is a link or a device, not a file.")
    if entry.flag_bits & ENCRYPTED:
        raise BadBundle(f"{entry.filename} is encrypted.")
    if entry.compress_type not in PLAIN:
        raise BadBundle(f"{entry.filename} is compressed in a way that is not used here.")
    if entry.file_size > CHUNK and entry.file_size > allowed.ratio * entry.compress_size:
        raise BadBundle(f"{entry.filename} unpacks to more than {allowed.ratio} times its size: it looks like a bomb.")


def shown(text: str) -> str:
    """Foreign text for a message: short, and in quotes that show what cannot be seen."""
    return ascii(text if len(text) <= 60 else f"{text[:59]}…")


@contextmanager
def _plain_words() -> Iterator[None]:
    """What the standard library says about archives that are broken, as one sentence."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise BadBundle(f"This is no zip file, or a damaged one: {shown(str(error))}.") from None
    except OSError as error:
        raise BadBundle(f"The file cannot be read: {os.strerror(error.errno or 0)}.") from None
