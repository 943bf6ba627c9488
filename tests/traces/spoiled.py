"""Bundles that are fine, and how to spoil them: what each is refused for."""

import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from .conftest import picture

Files = dict[str, bytes]
Spoil = Callable[[Files], None]

HASH = hashlib.sha256(picture("red")).hexdigest()


def event(seq: int = 1, parent: int | None = None, **more: Any) -> dict[str, Any]:
    line = {
        "seq": seq, "parent": parent, "branch": "main", "actor": "human", "kind": "message", "turn": 0, "name": "goal",
        "data": {"text": "Do it", "parts": [{"text": "Do it"}]}, "fate": "", "ok": None, "op_id": "", "act": None,
        "result": None, "raw": None, "before": None, "after": None, "started_at": None, "ended_at": None, "hidden": 0,
    }  # fmt: skip
    return line | more


def action(seq: int, parent: int, **more: Any) -> dict[str, Any]:
    data = {"id": "1", "name": "click", "input": {}, "toolset": "computer"}
    return event(seq, parent, kind="action", actor="agent", name="click", data=data, fate="done", **more)


def result(**more: Any) -> dict[str, Any]:
    sent = {"text": "", "picture": None, "ok": True}
    return {"text": "", "sent": sent, "took_ms": 1, "change": None, "settle_ms": None} | more


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def blob(sha256: str = HASH, media_type: str = "image/webp", **more: Any) -> dict[str, Any]:
    return {"sha256": sha256, "media_type": media_type, "size": 1, "width": None, "height": None} | more


def fine() -> Files:
    header = {"version": 1, "id": "abc", "title": "A", "state": "succeeded", "meta": {}, "ended_at": None}
    header["created_at"] = "2026-01-02T03:04:05+00:00"
    return {
        "trace.json": json.dumps(header).encode(),
        "events.jsonl": lines(event(), event(2, 1, after=HASH)),
        "blobs.jsonl": lines(blob()),
        f"blobs/{HASH}.webp": picture("red"),
    }


def pack(
    files: Files,
    out: Path,
    manifest: Any = None,
    names: Callable[[str], zipfile.ZipInfo | str] = str,
    compression: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """A zip whose manifest is right, unless another is given."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if not name.startswith("blobs/")}
    listed = manifest if manifest is not None else {"format": "godhand-trace", "files": hashes}
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("manifest.json", json.dumps(listed))
        for name, data in files.items():
            archive.writestr(names(name), data)
    return out


def events_are(*values: Any) -> Spoil:
    return lambda files: files.update({"events.jsonl": lines(*values)})


def text_is(name: str, data: bytes) -> Spoil:
    return lambda files: files.update({name: data})


def header_has(**more: Any) -> Spoil:
    return lambda files: files.update({"trace.json": json.dumps({**json.loads(files["trace.json"]), **more}).encode()})


def png(width: int, height: int) -> bytes:
    """As large as it says, in a few kilobytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 7) // 8 + 1) * min(height, 2000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def blob_is(data: bytes, media_type: str, suffix: str) -> Spoil:
    def spoil(files: Files) -> None:
        sha256 = hashlib.sha256(data).hexdigest()
        files[f"blobs/{sha256}.{suffix}"] = data
        files["blobs.jsonl"] = files["blobs.jsonl"] + lines(blob(sha256, media_type))

    return spoil


def gif() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "gif")
    return out.getvalue()


SPOILED: dict[str, tuple[Spoil, str]] = {
    "no events": (events_are(), "no events"),
    "a judge without tokens": (events_are(event(kind="observation", data={"usage": "many"})), "data"),
    "a missing parent": (events_are(event(), event(2, 7)), "follows event 7, which is not there"),
    "a later parent": (events_are(event(), event(2, 3), event(3, 2)), "follows event 3, which is not there"),
    "its own parent": (events_are(event(), event(2, 2)), "follows event 2, which is not there"),
    "two roots": (events_are(event(), event(2)), "Event 2 follows none"),
    "a first with a parent": (events_are(event(1, 1)), "is the first, and follows one"),
    "the same number": (events_are(event(), event(1, 1)), "out of order, or doubled"),
    "falling numbers": (events_are(event(5), event(2, 5)), "out of order, or doubled"),
    "a branch that is no line": (events_are(event(), event(2, 1), event(3, 1)), "last one of its branch"),
    "NaN": (text_is("events.jsonl", lines(event(turn=float("nan")))), "NaN is no number"),
    "infinity": (text_is("events.jsonl", lines(event(data={"x": float("inf")}))), "Infinity is no number"),
    "an overflowing number": (text_is("events.jsonl", lines(event()).replace(b'"turn": 0', b'"turn": 1e999')), "large"),
    "a huge number": (events_are(event(turn=2**80)), "too large"),
    "a number of ten thousand digits": (text_is("events.jsonl", b'{"seq": ' + b"9" * 10_000 + b"}"), "no JSON"),
    "a large seq": (events_are(event(2**60)), "seq must be a number"),
    "a negative turn": (events_are(event(turn=-1)), "turn must be a number"),
    "deep nesting": (text_is("events.jsonl", b"[" * 100_000), "nested too deep"),
    "nesting beyond the limit": (events_are(event(raw=json.loads("[" * 100 + "]" * 100))), "nested too deep"),
    "broken JSON": (text_is("events.jsonl", b'{"seq": 1'), "no JSON that can be read"),
    "no UTF-8": (text_is("events.jsonl", b'"\xff\xfe"'), "no UTF-8"),
    "a list for an event": (events_are([1]), "must be an object"),
    "an event without a field": (events_are({"seq": 1}), "Event 1 is not as it must be: parent is missing"),
    "an unknown kind": (events_are(event(kind="magic")), "kind is not known"),
    "an unknown actor": (events_are(event(actor="root")), "actor must be one of"),
    "a message without parts": (events_are(event(data={"text": "x"})), "data.parts is missing"),
    "an action without a fate": (events_are(event(), action(2, 1) | {"fate": ""}), "must have a fate"),
    "a fate without an action": (events_are(event(fate="done")), "must have a fate"),
    "text for a coordinate": (events_are(event(), action(2, 1, act={"action": "Click", "x": "1"})), "act.x must be"),
    "half a place": (events_are(event(), action(2, 1, act={"action": "Click", "x": 1})), "both numbers"),
    "a drag to nowhere": (events_are(event(), action(2, 1, act={"action": "Drag"})), "where a drag ends"),
    "boxes without corners": (
        events_are(event(), action(2, 1, result=result(change={"ratio": 0, "boxes": [[1]]}))),
        "4 numbers each",
    ),
    "a result without what was sent": (
        events_are(event(), action(2, 1, result={"text": ""})),
        "result.sent is missing",
    ),
    "a picture that is no hash": (events_are(event(after="../../etc/passwd")), "is no SHA-256"),
    "a picture that is not there": (events_are(event(after="ab" * 32)), "which is not in the bundle"),
    "a name that cannot be shown": (events_are(event(name="a\x00b")), "name must be at most 100"),
    "an endless name": (events_are(event(branch="b" * 41)), "branch must be at most 40"),
    "a time without a zone": (events_are(event(started_at="2026-01-01T00:00:00")), "with its zone"),
    "a time of another age": (events_are(event(started_at="9999-12-31T23:59:59+00:00")), "of this age"),
    "a line that never ends": (
        text_is("events.jsonl", b'"' + os.urandom(3 << 19).hex().encode() + b'"'),
        "longer than",
    ),
    "a newer version": (header_has(version=99), "version 99"),
    "no version": (header_has(version=None), "does not say in which version"),
    "a title that is no text": (header_has(title=["x"]), "title must be text"),
    "a header that is no object": (text_is("trace.json", b"[]"), "no trace"),
    "a picture that is none": (blob_is(b"<script>alert(1)</script>", "image/png", "png"), "is no PNG"),
    "a picture of another kind": (blob_is(gif(), "image/webp", "webp"), "is no WEBP"),
    "a cut picture": (blob_is(picture("red")[:-8], "image/webp", "webp"), "is no WEBP"),
    "a picture of 2.5 gigapixels": (blob_is(png(50_000, 50_000), "image/png", "png"), "million pixels"),
    "a picture of 25 megapixels": (blob_is(png(5_000, 5_000), "image/png", "png"), "million pixels"),
    "a type that is none": (blob_is(b"x", "text/html\r\nX: y", "bin"), "without a SHA-256 or a type"),
    "a blob that is not listed": (text_is(f"blobs/{'cd' * 32}.bin", b"x"), "does not list"),
    "a blob twice": (lambda files: files.update({"blobs.jsonl": files["blobs.jsonl"] * 2}), "twice"),
    "a blob with another's name": (lambda files: files.update({f"blobs/{HASH}.webp": picture("blue")}), "SHA-256 says"),
    "a blob that is missing": (lambda files: files.__delitem__(f"blobs/{HASH}.webp"), "is missing"),
}
