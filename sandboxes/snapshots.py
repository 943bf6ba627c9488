"""Saved machines on this host: `<home>/snapshots/<id>/` with a signed manifest beside whatever the backend saved.

A snapshot is written under another name and renamed when it is whole. Its manifest is signed with a key that only
root reads, and names every file by size and hash: a changed, foreign or half-copied snapshot is refused.
"""

import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from .errors import DiskFull, Gone, Refused
from .host import Host
from .ids import is_plain, new_id
from .images.store import HOLDS, Image

Keeps = Literal["disk", "disk+memory"]
VERSION = 1
MANIFEST = "manifest.json"
UNFINISHED = ".making-"


@dataclass(frozen=True)
class SnapshotRef:
    """`parent` is the snapshot that the saved machine was itself made from."""

    id: str
    kind: str
    runtime: str
    image: str
    image_digest: str
    image_root: str
    keeps: Keeps
    parent: str | None
    label: str
    size: int
    made_at: float


class Snapshots:
    def __init__(self, host: Host) -> None:
        self.root, self.reserve = host.home / "snapshots", host.reserve

    @contextmanager
    def making(self) -> Iterator[tuple[str, Path]]:
        """An id and an empty directory to save into; removed again unless it is sealed. Raises DiskFull."""
        snapshot_id = new_id()
        directory = self.root / f"{UNFINISHED}{snapshot_id}"
        try:
            directory.mkdir(parents=True, mode=0o700)
            if shutil.disk_usage(directory).free < self.reserve:
                raise DiskFull
            yield snapshot_id, directory
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFull from error
            raise
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def seal(self, directory: Path, ref: SnapshotRef) -> SnapshotRef:
        content = {"version": VERSION, **asdict(ref), "files": _described(directory)}
        text = json.dumps(content, sort_keys=True)
        (directory / MANIFEST).write_text(json.dumps({"signed": text, "signature": self._sign(text)}))
        directory.rename(self.directory(ref.id))
        hold = _hold(ref)
        hold.parent.mkdir(exist_ok=True)
        hold.symlink_to(self.directory(ref.id).absolute())
        return ref

    def find(self, snapshot_id: str) -> SnapshotRef:
        """Raises Gone when there is none, Refused when it is not what was sealed here."""
        content = self._content(snapshot_id)
        directory = self.directory(snapshot_id)
        for name, wanted in content.pop("files").items():
            _refuse_changed(directory / name, wanted, snapshot_id)
        content.pop("version")
        ref = SnapshotRef(**content)
        if not Path(ref.image_root).is_dir():
            raise Refused(f"Snapshot {snapshot_id} needs the image {ref.image} {ref.image_digest[:12]}, which is gone.")
        return ref

    def _content(self, snapshot_id: str) -> dict[str, Any]:
        try:
            manifest = json.loads((self.directory(snapshot_id) / MANIFEST).read_text())
            text, signature = str(manifest["signed"]), str(manifest["signature"])
        except OSError:
            raise Gone(f"There is no snapshot {snapshot_id} on this host.") from None
        except (ValueError, KeyError, TypeError):
            raise Refused(f"Snapshot {snapshot_id} has a broken manifest.") from None
        if not hmac.compare_digest(signature, self._sign(text)):
            raise Refused(f"Snapshot {snapshot_id} was not made by this installation, or was changed.")
        content: dict[str, Any] = json.loads(text)
        if content["version"] != VERSION or content["id"] != snapshot_id:
            raise Refused(f"Snapshot {snapshot_id} has a manifest of another version or of another snapshot.")
        return content

    def directory(self, snapshot_id: str) -> Path:
        """Raises Gone for what cannot be an id, such as a way out of here."""
        if not is_plain(snapshot_id):
            raise Gone(f"There is no snapshot {snapshot_id[:40]!r} on this host.")
        return self.root / snapshot_id

    def ids(self, *, older_than: float = 0) -> list[str]:
        """Also of damaged ones; not of unfinished ones."""
        found = self.root.glob("[!.]*") if self.root.is_dir() else ()
        return sorted(path.name for path in found if time.time() - path.stat().st_mtime >= older_than)

    def delete(self, snapshot_id: str) -> None:
        """Idempotent. Who else needs it is for the caller to know."""
        try:
            directory = self.directory(snapshot_id)
        except Gone:
            return
        try:
            content = self._content(snapshot_id)
            _hold(SnapshotRef(**{name: content[name] for name in SnapshotRef.__annotations__})).unlink(missing_ok=True)
        except (Gone, Refused):
            pass
        shutil.rmtree(directory, ignore_errors=True)

    def sweep(self, *, older_than: float = 600) -> None:
        """Remove what a killed maker left."""
        for path in self.root.glob(f"{UNFINISHED}*"):
            if time.time() - path.stat().st_mtime > older_than:
                shutil.rmtree(path, ignore_errors=True)

    def _sign(self, text: str) -> str:
        return hmac.new(self._key(), text.encode(), hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        path = self.root / ".key"
        if not path.exists():
            new = self.root / f".key-{secrets.token_hex(4)}"
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(new, path)
            except FileExistsError:
                pass
            finally:
                new.unlink()
        return path.read_bytes()


def describe(image: Image) -> dict[str, str]:
    return {"image": image.name, "image_digest": image.digest, "image_root": str(image.root)}


def _hold(ref: SnapshotRef) -> Path:
    """A link to the snapshot: keeps the image's builder from removing a root that is needed, as long as it is."""
    return Path(ref.image_root).parent / HOLDS / ref.id


def _described(directory: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(directory)): {**_seen(path), "sha256": _hash(path)}
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def _seen(path: Path) -> dict[str, int]:
    stat = path.stat()
    return {"size": stat.st_size, "inode": stat.st_ino, "mtime_ns": stat.st_mtime_ns}


def _refuse_changed(path: Path, wanted: Mapping[str, Any], snapshot_id: str) -> None:
    """Reading hundreds of megabytes again is left out only for a file nobody has written to since it was sealed."""
    try:
        seen = _seen(path)
        same = all(seen[name] == wanted[name] for name in seen) or (
            seen["size"] == wanted["size"] and _hash(path) == wanted["sha256"]
        )
    except OSError:
        same = False
    if not same:
        raise Refused(f"Snapshot {snapshot_id} is damaged: {path.name} is not what was saved.")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
