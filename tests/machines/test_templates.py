"""Templates of images that are not current any more are forgotten, with what they keep on disk."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import pytest

from sandboxes import forking, reaper, templates
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Gone
from sandboxes.host import here
from sandboxes.images import store
from sandboxes.snapshots import SnapshotRef, Snapshots, describe

OLD, NEW = "a" * 64, "b" * 64
LONG_AGO = 1_000_000_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GODHAND_HOME", str(tmp_path))
    monkeypatch.setenv("GODHAND_IMAGES", str(tmp_path / "images"))
    here.cache_clear()
    yield tmp_path
    here.cache_clear()


@pytest.fixture
def current(home: Path) -> store.Image:
    """The image “tiny”, built anew a long time ago."""
    build = home / "images/tiny" / NEW[:16]
    build.mkdir(parents=True)
    (build / "manifest.json").write_text(json.dumps({"digest": NEW, "size": 1}))
    (build.parent / "current").symlink_to(build.name)
    os.utime(build.parent / "current", (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return store.find("tiny")


@pytest.fixture
def template(home: Path) -> Callable[[str, str], Path]:
    def make(digest: str, snapshot_id: str) -> Path:
        (home / "snapshots" / snapshot_id).mkdir(parents=True)
        pointer = home / "templates" / f"gvisor-tiny-{digest[:16]}.template"
        pointer.parent.mkdir(exist_ok=True)
        pointer.write_text(snapshot_id)
        return pointer

    return make


@pytest.mark.django_db
def test_it_discards_the_templates_of_old_builds_by_itself(
    current: store.Image, template: Callable[[str, str], Path]
) -> None:
    old, new = template(OLD, "oldtemplate1"), template(NEW, "newtemplate1")
    forking.discard_unclaimed()
    assert (old.exists(), new.exists()) == (False, True)
    assert Snapshots(here()).ids() == ["newtemplate1"]


@pytest.mark.django_db
def test_it_waits_while_a_build_is_fresh(current: store.Image, template: Callable[[str, str], Path]) -> None:
    old = template(OLD, "oldtemplate1")
    os.utime(current.root.parent.parent / "current", follow_symlinks=False)
    forking.discard_unclaimed()
    assert old.exists()
    assert Snapshots(here()).ids() == ["oldtemplate1"]


def test_it_wants_another_template_for_another_runtime(current: store.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    current.root.mkdir()
    made = iter(("first", "second"))

    def make(kind: type[GvisorSandbox], image: store.Image, claim: TextIO) -> SnapshotRef:
        facts = {**describe(image), "keeps": "disk", "parent": None, "label": next(made), "size": 0, "made_at": 0.0}
        with Snapshots(here()).making() as (snapshot_id, directory):
            ref = SnapshotRef(id=snapshot_id, kind=kind.kind, runtime=kind.runtime(), **facts)  # type: ignore[arg-type]
            return Snapshots(here()).seal(directory, ref)

    monkeypatch.setattr(templates, "_make", make)
    monkeypatch.setattr(GvisorSandbox, "runtime", lambda: "release-1")
    first = templates.ensure(GvisorSandbox, current)
    assert templates.find(GvisorSandbox, current) == templates.ensure(GvisorSandbox, current) == first
    monkeypatch.setattr(GvisorSandbox, "runtime", lambda: "release-2")
    assert templates.find(GvisorSandbox, current) is None
    second = templates.ensure(GvisorSandbox, current)
    assert second is not None
    assert (second.label, second.runtime) == ("second", "release-2")
    assert Snapshots(here()).ids() == [second.id]


@pytest.mark.django_db
def test_it_claims_the_machine_that_a_template_is_made_in(
    current: store.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str]] = []

    def create(machine_id: str, *_: object) -> None:
        (here().machines / machine_id).mkdir(parents=True)
        seen.extend([("gvisor", machine_id), *reaper.unclaimed()])
        raise Gone("enough")

    monkeypatch.setattr(GvisorSandbox, "create", create)
    with pytest.raises(Gone):
        templates.ensure(GvisorSandbox, current)
    assert len(seen) == 1
    assert reaper.unclaimed() == seen
    GvisorSandbox.attach({"id": seen[0][1]}).destroy()


def test_it_says_how_a_template_is(current: store.Image, template: Callable[[str, str], Path]) -> None:
    assert templates.state(GvisorSandbox, current) == "none"
    template(OLD, "oldtemplate1")
    assert templates.state(GvisorSandbox, current) == "old"
    with (here().home / f"templates/gvisor-tiny-{NEW[:16]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert templates.state(GvisorSandbox, current) == "making"
    template(NEW, "newtemplate1")
    assert templates.state(GvisorSandbox, current) == "ready"
