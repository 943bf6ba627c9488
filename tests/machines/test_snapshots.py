"""A snapshot that is not exactly what was sealed here is refused; nothing half made is ever found."""

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from bench.installation import remove_home
from sandboxes.errors import DiskFull, Gone, Refused
from sandboxes.host import Host, here
from sandboxes.images.workshop import held
from sandboxes.snapshots import MANIFEST, SnapshotRef, Snapshots


@pytest.fixture
def store(tmp_path: Path) -> Snapshots:
    return Snapshots(replace(here(), home=tmp_path))


@pytest.fixture
def sealed(store: Snapshots, tmp_path: Path) -> SnapshotRef:
    return seal(store, tmp_path / "image" / "rootfs")


def seal(store: Snapshots, root: Path) -> SnapshotRef:
    root.mkdir(parents=True)
    with store.making() as (snapshot_id, directory):
        (directory / "checkpoint").mkdir()
        (directory / "checkpoint" / "pages.img").write_bytes(b"p" * 100_000)
        ref = SnapshotRef(
            snapshot_id, "gvisor", "1", "desktop", "d" * 64, str(root), "disk+memory", None, "label", 100_000, 0.0
        )
        return store.seal(directory, ref)


def pages(store: Snapshots, ref: SnapshotRef) -> Path:
    return store.directory(ref.id) / "checkpoint" / "pages.img"


def test_it_finds_what_it_sealed(store: Snapshots, sealed: SnapshotRef) -> None:
    assert store.find(sealed.id) == sealed
    assert store.ids() == [sealed.id]


def test_it_refuses_a_flipped_bit(store: Snapshots, sealed: SnapshotRef) -> None:
    with pages(store, sealed).open("r+b") as file:
        file.seek(50_000)
        file.write(b"q")
    with pytest.raises(Refused, match=r"pages\.img is not what was saved"):
        store.find(sealed.id)


@pytest.mark.parametrize("name", ["../image", "..", "", ".key", "a/b", "/etc", "x" * 13])
def test_it_goes_nowhere_else_by_a_name(store: Snapshots, sealed: SnapshotRef, name: str) -> None:
    before = sorted(store.root.parent.rglob("*"))
    with pytest.raises(Gone):
        store.find(name)
    store.delete(name)
    assert sorted(store.root.parent.rglob("*")) == before


def test_it_takes_an_exact_copy_for_the_original(store: Snapshots, sealed: SnapshotRef) -> None:
    content = pages(store, sealed).read_bytes()
    pages(store, sealed).unlink()
    pages(store, sealed).write_bytes(content)
    assert store.find(sealed.id) == sealed


def test_it_refuses_a_changed_manifest(store: Snapshots, sealed: SnapshotRef) -> None:
    path = store.directory(sealed.id) / MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "signed": manifest["signed"].replace("label", "other")}))
    with pytest.raises(Refused, match="not made by this installation"):
        store.find(sealed.id)


def test_it_refuses_a_snapshot_of_another_installation(store: Snapshots, sealed: SnapshotRef, tmp_path: Path) -> None:
    other = Snapshots(Host(tmp_path / "other", here().images, here().subnet))
    other.root.mkdir(parents=True)
    store.directory(sealed.id).rename(other.directory(sealed.id))
    with pytest.raises(Refused, match="not made by this installation"):
        other.find(sealed.id)


def test_it_refuses_a_snapshot_whose_image_is_gone(store: Snapshots, sealed: SnapshotRef) -> None:
    Path(sealed.image_root).rmdir()
    with pytest.raises(Refused, match="needs the image desktop"):
        store.find(sealed.id)


def test_it_leaves_nothing_of_a_snapshot_that_was_not_finished(store: Snapshots) -> None:
    with store.making() as (snapshot_id, directory):
        (directory / "half").write_bytes(b"")
    assert store.ids() == []
    assert not directory.exists()
    with pytest.raises(Gone, match="There is no snapshot"):
        store.find(snapshot_id)


def test_it_takes_no_snapshot_where_the_reserve_would_be_touched(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    for reserve in (free // 2, free * 2):
        store = Snapshots(replace(here(), home=tmp_path, reserve=reserve))
        with nullcontext() if reserve < free else pytest.raises(DiskFull, match="delete some"), store.making():
            pass
    assert store.ids() == []


def test_it_holds_the_image_only_as_long_as_a_snapshot_needs_it(store: Snapshots, sealed: SnapshotRef) -> None:
    holds = Path(sealed.image_root).parent / "holds"
    assert [path.name for path in holds.iterdir()] == [sealed.id]
    store.delete(sealed.id)
    store.delete(sealed.id)
    assert list(holds.iterdir()) == []


@pytest.mark.parametrize("remove", [remove_home, shutil.rmtree])
def test_it_holds_no_image_once_a_home_is_gone(tmp_path: Path, remove: Callable[[Path], None]) -> None:
    home, build = tmp_path / "home", tmp_path / "image"
    seal(Snapshots(replace(here(), home=home)), build / "rootfs")
    assert held(build)
    remove(home)
    assert not home.exists()
    assert not held(build)
