import fcntl
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client
from redis import Redis

from godhand_web.models import User
from sandboxes import imaging, lifecycle
from sandboxes.host import here
from sandboxes.images import store
from sandboxes.models import Machine, State

from .conftest import MachineOf, SnapshotOf

pytestmark = pytest.mark.usefixtures("redis_url")
DIGEST = "ab" * 32


@pytest.fixture(autouse=True)
def place(image: Path, monkeypatch: pytest.MonkeyPatch, redis_url: str) -> Iterator[Path]:
    """Where the image “desktop” is, for everybody."""
    there = replace(here(), images=image.parent.parent)
    monkeypatch.setattr(imaging, "here", lambda: there)
    yield image.parent
    with Redis.from_url(redis_url) as redis:
        redis.delete("image:asked:desktop", "image:failed:desktop")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    asked: list[tuple[object, ...]] = []

    def send(task: str, host: str, *words: str, queue: str = "") -> bool:
        asked.append((task, *words))
        return True

    monkeypatch.setattr(lifecycle, "send", send)
    return asked


@pytest.fixture
def as_staff(staff: User) -> Client:
    client = Client()
    client.force_login(staff)
    return client


def test_it_shows_exact_versions_and_finds_them(as_owner: Client, place: Path) -> None:
    manifest = place / "0123/manifest.json"
    said = {
        **json.loads(manifest.read_text()),
        "packages": {"bash": "5.2.37-2", "tint2": "17.0"},
        "python": ["odf==1.4"],
    }
    manifest.write_text(json.dumps(said))
    whole = as_owner.get("/images/desktop/").content.decode()
    for word in ("bash", "5.2.37-2", "tint2", "odf", "1.4", "1.3\xa0GB", "abababababab"):
        assert word in whole
    assert "None yet" in whole or "Of an earlier build" in whole
    found = as_owner.get("/images/desktop/?q=BASH").content.decode()
    assert "5.2.37-2" in found
    assert "tint2" not in found
    assert "No matching packages" in as_owner.get("/images/desktop/?q=emacs").content.decode()
    assert as_owner.get("/images/nothing/").status_code == 404


def test_it_shows_how_far_a_build_is(as_owner: Client, place: Path) -> None:
    phases = [[0.1, "resolving packages"], [12, "downloading 412 packages"]]
    build = {"state": "running", "started": 0, "phases": phases, "usual": 200}
    (place / "build.json").write_text(json.dumps(build))
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for page in ("/images/", "/images/desktop/"):
            shown = as_owner.get(page).content.decode()
            assert "downloading 412 packages" in shown
            assert "of about 200 s" in shown
            assert 'data-poll="2"' in shown
    assert "The builder died on the way." in as_owner.get("/images/desktop/").content.decode()


def test_it_asks_for_a_build_once(as_staff: Client, place: Path, asked: list[tuple[object, ...]]) -> None:
    assert "will be built" in as_staff.post("/images/desktop/build/", follow=True).content.decode()
    again = as_staff.post("/images/desktop/build/", follow=True).content.decode()
    assert "was asked for already" in again
    assert "Waiting for the machines" in again
    assert asked == [("build_image", "desktop")]


def test_it_says_why_a_build_never_began(as_staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandboxes.images.builder.os.geteuid", lambda: 1000)
    imaging.build("desktop")
    assert "Images are built as root" in as_staff.get("/images/desktop/").content.decode()


def test_it_shows_the_log_to_those_who_may_build(as_staff: Client, as_owner: Client, place: Path) -> None:
    (place / "build.log").write_text("Setting up bash\n<script>alert(1)</script>\n")
    shown = as_staff.get("/images/desktop/").content.decode()
    assert "Setting up bash" in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "Setting up bash" not in as_owner.get("/images/desktop/").content.decode()


def old_build(place: Path) -> Path:
    old = place / "cdcd"
    old.mkdir()
    (old / "manifest.json").write_text(
        json.dumps({"digest": "cd" * 32, "size": 7, "built": "2025-01-01T00:00:00+00:00"})
    )
    return old


def test_it_deletes_a_build_that_nobody_needs(as_staff: Client, place: Path, asked: list[tuple[object, ...]]) -> None:
    old = old_build(place)
    at = "/images/desktop/delete/"
    assert "will be gone" in as_staff.post(at, {"digest": "cd" * 32}, follow=True).content.decode()
    assert asked == [("delete_build", "desktop", "cd" * 32)]
    imaging.delete("desktop", "cd" * 32)
    assert not old.exists()
    assert store.find("desktop").digest == DIGEST
    assert "no such build" in as_staff.post(at, {"digest": "cd" * 32}, follow=True).content.decode()


def test_it_keeps_what_a_machine_or_a_snapshot_needs(
    as_staff: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf, place: Path
) -> None:
    machine = machine_of(owner, State.STOPPED)
    Machine.objects.update(image_digest=DIGEST)
    at = "/images/desktop/delete/"
    assert "1 machine(s) need this build" in as_staff.post(at, {"digest": DIGEST}, follow=True).content.decode()
    Machine.objects.update(state=State.DESTROYED)
    snapshot_of(machine)
    assert "1 snapshot(s) need this build" in as_staff.post(at, {"digest": DIGEST}, follow=True).content.decode()
    imaging.delete("desktop", DIGEST)
    assert store.find("desktop").digest == DIGEST


def test_it_keeps_what_another_installation_holds(place: Path, owner: User) -> None:
    old = old_build(place)
    (old / "holds").mkdir()
    (old / "holds/elsewhere").touch()
    imaging.delete("desktop", "cd" * 32)
    assert old.exists()
