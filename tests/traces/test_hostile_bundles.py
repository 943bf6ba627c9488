"""Archives that were made to do harm: each is refused in a sentence, and nothing of it is taken in."""

import hashlib
import os
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from godhand_web.models import User
from traces.archives import Limits
from traces.blobs import BlobStore
from traces.bundle_reader import Bundle
from traces.errors import TraceError
from traces.export.base import Silent
from traces.importing import take_in
from traces.models import Blob, Event, Trace

from .conftest import picture
from .spoiled import SPOILED, blob, event, fine, lines, pack


@pytest.fixture
def refuse(owner: User, store: BlobStore) -> Callable[[Path], str]:
    """Takes it in, and gives the sentence in which that was refused."""

    def attempt(path: Path) -> str:
        before = Trace.objects.count(), Event.objects.count(), Blob.objects.count()
        with pytest.raises(TraceError) as refused:
            take_in(path, owner, Silent(), store)
        assert (Trace.objects.count(), Event.objects.count(), Blob.objects.count()) == before
        sentence = str(refused.value)
        assert sentence.endswith(".")
        assert sentence.isprintable()
        assert len(sentence) < 300
        return sentence

    return attempt


def test_it_takes_in_one_that_is_fine(owner: User, store: BlobStore, tmp_path: Path) -> None:
    trace = take_in(pack(fine(), tmp_path / "a.zip"), owner, Silent(), store)
    assert (trace.title, Event.objects.filter(trace=trace).count()) == ("A", 2)


@pytest.mark.parametrize("name", SPOILED)
def test_it_refuses(name: str, refuse: Callable[[Path], str], tmp_path: Path) -> None:
    files = fine()
    spoil, said = SPOILED[name]
    spoil(files)
    assert said in refuse(pack(files, tmp_path / "a.zip"))


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "a/../../b",
        "..\\evil",
        "C:evil",
        "a\x00b",
        "a\r\nb",
        "x" * 4000,
        "a/b/c/d/e",
        "./a",
        "a//b",
    ],
)
def test_it_refuses_names_that_lead_elsewhere(name: str, refuse: Callable[[Path], str], tmp_path: Path) -> None:
    path = pack({**fine(), "PLACEHOLDER": b"x"}, tmp_path / "a.zip", names=lambda each: odd(each, name))
    assert refuse(path)
    assert not (tmp_path.parent / "evil").exists()


def odd(each: str, name: str) -> zipfile.ZipInfo | str:
    if each != "PLACEHOLDER":
        return each
    info = zipfile.ZipInfo("x")
    info.filename = name
    return info


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_it_refuses_what_is_no_file(kind: int, refuse: Callable[[Path], str], tmp_path: Path) -> None:
    def special(name: str) -> zipfile.ZipInfo | str:
        info = zipfile.ZipInfo(name)
        info.external_attr = (kind | 0o777) << 16
        return info if name.startswith("blobs/") else name

    assert "a link or a device" in refuse(pack(fine(), tmp_path / "a.zip", names=special))


def test_it_refuses_a_name_twice(refuse: Callable[[Path], str], tmp_path: Path) -> None:
    path = pack(fine(), tmp_path / "a.zip")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("events.jsonl", lines(event()))
    assert "twice" in refuse(path)


def test_it_refuses_encryption_and_rare_compressions(refuse: Callable[[Path], str], tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("manifest.json", "{}")
    assert "compressed in a way" in refuse(path)
    data = bytearray(pack(fine(), path).read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)
    assert "encrypted" in refuse(path)


@pytest.mark.parametrize(
    "data", [b"", b"PK\x05\x06", b"not a zip at all", os.urandom(5000), b"PK\x03\x04" + bytes(200)]
)
def test_it_refuses_what_is_no_zip(data: bytes, refuse: Callable[[Path], str], tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    assert "no zip file" in refuse(path)


def test_it_refuses_a_zip_that_was_cut(refuse: Callable[[Path], str], tmp_path: Path) -> None:
    whole = pack(fine(), tmp_path / "a.zip").read_bytes()
    for number in range(0, len(whole), 97):
        (tmp_path / "cut.zip").write_bytes(whole[:number])
        assert refuse(tmp_path / "cut.zip")


def test_it_reads_a_zip_with_a_wrong_byte_as_it_was_or_not_at_all(tmp_path: Path) -> None:
    whole = pack(fine(), tmp_path / "a.zip").read_bytes()
    path = tmp_path / "turned.zip"
    for number in range(len(whole)):
        path.write_bytes(whole[:number] + bytes([whole[number] ^ 0x41]) + whole[number + 1 :])
        with suppress(TraceError), Bundle(path) as bundle:
            assert [event.seq for event in bundle.events()] == [1, 2]
            assert [held.read() for held in bundle.blobs()] == [picture("red")]


def test_it_refuses_a_changed_file_and_another_format(refuse: Callable[[Path], str], tmp_path: Path) -> None:
    wrong = {"format": "godhand-trace", "files": {name: "0" * 64 for name in fine() if "/" not in name}}
    assert "is not what its SHA-256 says" in refuse(pack(fine(), tmp_path / "a.zip", wrong))
    assert "'other'" in refuse(pack(fine(), tmp_path / "a.zip", {"format": "other", "files": {}}))
    assert "every file" in refuse(pack(fine(), tmp_path / "a.zip", {"format": "godhand-trace", "files": [1]}))
    assert "missing" in refuse(pack(fine(), tmp_path / "a.zip", {"format": "godhand-trace", "files": {}}))


def test_it_refuses_more_than_the_limits_allow(tmp_path: Path) -> None:
    path = pack(fine(), tmp_path / "a.zip")
    for limits, said in ((Limits(bytes=100), "larger than"), (Limits(files=3), "more than 3 files")):
        with pytest.raises(TraceError, match=said):
            Bundle(path, limits)
    bomb = {**fine(), "events.jsonl": bytes(64 << 20)}
    with pytest.raises(TraceError, match="looks like a bomb"):
        Bundle(pack(bomb, path))


MEASURE = """
import resource, sys
from pathlib import Path
from traces.bundle_reader import Bundle
from traces.errors import TraceError
import PIL.WebPImagePlugin, PIL.PngImagePlugin, zipfile
def grown(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = grown()
try:
    with Bundle(Path(sys.argv[1])) as bundle:
        for event in bundle.events(): pass
        for held in bundle.blobs():
            with held.open() as file:
                while file.read(1 << 20): pass
    said = "fine"
except TraceError as error:
    said = str(error)
print(grown() - before, said)
"""


def memory(path: Path) -> tuple[int, str]:
    """Megabytes that a process grows by when it reads the bundle, and what it says."""
    argv = [sys.executable, "-c", MEASURE, str(path)]
    out = subprocess.run(argv, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]).stdout
    kilobytes, _, said = out.strip().partition(" ")
    return int(kilobytes) >> 10, said


def test_it_reads_a_large_bundle_in_little_memory(tmp_path: Path) -> None:
    files = fine()
    large = os.urandom(1 << 20) * 300
    sha256 = hashlib.sha256(large).hexdigest()
    files["blobs.jsonl"] += lines(blob(sha256, "application/pdf"))
    files[f"blobs/{sha256}.bin"] = large
    files["events.jsonl"] = lines(event(), *(event(number, number - 1, raw="x" * 2000) for number in range(2, 20_000)))
    path = tmp_path / "a.zip"
    pack(files, path, compression=zipfile.ZIP_STORED)
    grown, said = memory(path)
    assert said == "fine"
    assert grown < 100


def test_it_refuses_a_million_names_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0)
    names = b"".join(entry + b"%06x" % number for number in range(1_000_000))
    path.write_bytes(names + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, len(names), 0, 0))
    grown, said = memory(path)
    assert "more than 60000 files" in said
    assert grown < 100


@pytest.mark.parametrize("unit", [b"[],", b"{},", b'{"":0},', b"0,"])
def test_it_reads_json_that_swells_in_little_memory(unit: bytes, tmp_path: Path) -> None:
    many = b"[" + unit * ((2 << 20) // len(unit) - 2)
    files = {**fine(), "events.jsonl": many[:-1] + b"]\n"}
    grown, said = memory(pack(files, tmp_path / "a.zip", compression=zipfile.ZIP_STORED))
    assert "must be an object" in said
    assert grown < 100
