import errno
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from traces.blobs import BlobStore
from traces.errors import Damaged, DiskFull
from traces.events import Actor, Kind, Recorder
from traces.models import Blob, Trace
from traces.queries import stored
from traces.storage import collect, default_store

from .conftest import picture, seen

WEBP = "image/webp"
ROOT = Path(__file__).parents[2]


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "small"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=40", "none", str(mount)], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_it_stores_bytes_once_under_their_hash(store: BlobStore, root: Path) -> None:
    data = picture("white")
    sha256 = hashlib.sha256(data).hexdigest()
    assert store.add(data, WEBP) == store.add(io.BytesIO(data), WEBP) == store.add(data, WEBP) == (sha256, len(data))
    assert files(root) == [root / sha256[:2] / sha256[2:4] / f"{sha256}.webp"]
    assert store.read(sha256, WEBP) == data


def test_it_keeps_the_files_of_hostile_types_and_names_in_its_own_place(store: BlobStore, root: Path) -> None:
    sha256, _ = store.add(b"<script>", "text/html/../../../x")
    assert files(root) == [root / sha256[:2] / sha256[2:4] / f"{sha256}.bin"]
    with pytest.raises(ValueError, match="is no SHA-256"):
        store.read("../../../../etc/passwd", WEBP)


@pytest.mark.parametrize("damage", [b"", b"other"])
def test_it_notices_damage(store: BlobStore, root: Path, damage: bytes) -> None:
    sha256, _ = store.add(picture("white"), WEBP)
    files(root)[0].write_bytes(damage)
    with pytest.raises(Damaged, match="is damaged"):
        store.read(sha256, WEBP)
    store.add(picture("white"), WEBP)
    assert store.read(sha256, WEBP) == picture("white")


def test_it_says_that_a_file_is_missing(store: BlobStore) -> None:
    with pytest.raises(Damaged, match="is missing"):
        store.read("ab" * 32, WEBP)


DIES = """
import os, sys
from pathlib import Path
from traces.blobs import BlobStore

class Dying:
    chunks = [b"half a picture"]
    def read(self, size):
        if not self.chunks:
            os._exit(9)
        return self.chunks.pop()

BlobStore(Path(sys.argv[1])).add(Dying(), "image/webp")
"""


def test_it_shows_nothing_of_a_writer_that_died(store: BlobStore, root: Path) -> None:
    assert subprocess.run([sys.executable, "-c", DIES, str(root)], cwd=ROOT, check=False).returncode == 9
    (left,) = files(root)
    assert left.parent == root / ".new"
    sha256, _ = store.add(b"half a picture", WEBP)
    assert store.sweep({sha256}).files == 0
    assert store.sweep({sha256}, grace=-1).files == 1
    assert store.read(sha256, WEBP) == b"half a picture"
    assert not left.exists()


def test_it_says_that_the_disk_is_full_and_leaves_nothing_half_written(small_disk: Path) -> None:
    store = BlobStore(small_disk)
    sha256, _ = store.add(b"small", WEBP)
    for data in (os.urandom(1 << 20), io.BytesIO(os.urandom(1 << 20))):
        with pytest.raises(DiskFull, match="free some space") as raised:
            store.add(data, WEBP)
        assert isinstance(raised.value.__cause__, OSError)
        assert raised.value.__cause__.errno == errno.ENOSPC
    assert [path.stem for path in files(small_disk)] == [sha256]
    assert store.read(sha256, WEBP) == b"small"


def test_it_says_that_the_disk_has_no_inodes_left(small_disk: Path) -> None:
    store = BlobStore(small_disk)
    added: list[str] = []
    with pytest.raises(DiskFull):
        added.extend(store.add(str(number).encode(), WEBP)[0] for number in range(40))
    assert sorted(path.stem for path in files(small_disk)) == sorted(added) != []
    assert all(store.read(sha256, WEBP) for sha256 in added)


def test_it_sweeps_what_nobody_names_but_nothing_new(store: BlobStore, root: Path) -> None:
    kept, _ = store.add(b"kept", WEBP)
    old, size = store.add(b"old", WEBP)
    given, _ = store.add(b"given again", WEBP)
    for path in files(root):
        os.utime(path, (0, 0))
    store.add(b"given again", WEBP)
    swept = store.sweep({kept})
    assert (swept.files, swept.bytes) == (1, size)
    assert {path.stem for path in files(root)} == {kept, given}
    assert old not in {kept, given}


@pytest.mark.django_db
def test_it_collects_the_pictures_of_deleted_traces(
    recorder: Recorder, trace: Trace, store: BlobStore, root: Path
) -> None:
    recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[seen(recorder, "white")])
    seen(recorder, "red")
    assert collect(store, grace=-1).files == 1
    assert Blob.objects.count() == len(files(root)) == 1
    trace.delete()
    assert collect(store).files == 0
    assert collect(store, grace=-1).files == 1
    assert Blob.objects.count() == len(files(root)) == 0


@pytest.mark.django_db
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_it_keeps_png_as_webp_with_the_same_pixels(recorder: Recorder, store: BlobStore, mode: str) -> None:
    original = Image.effect_noise((64, 48), 90).convert(mode)
    out = io.BytesIO()
    original.save(out, "png")
    sha256 = recorder.picture(out.getvalue(), "image/png", 64, 48)
    recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[sha256])
    kept = stored(sha256, store)
    assert (kept.media_type, kept.width, kept.height) == (WEBP, 64, 48)
    assert Image.open(io.BytesIO(kept.data)).convert("RGBA").tobytes() == original.convert("RGBA").tobytes()


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "exact"), [("webp", False), ("jpeg", False), ("png", True)])
def test_it_keeps_the_very_bytes_of_others(recorder: Recorder, store: BlobStore, kind: str, exact: bool) -> None:
    data = picture("white", kind)
    sha256 = recorder.picture(data, f"image/{kind}", 40, 30, exact=exact)
    recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[sha256])
    assert stored(sha256, store).data == data


def test_it_lives_in_the_data_directory() -> None:
    sha256, _ = default_store().add(b"here", WEBP)
    assert default_store().path_of(sha256, WEBP).is_relative_to(os.environ["GODHAND_HOME"])
