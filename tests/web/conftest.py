import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from playwright.sync_api import Browser, sync_playwright
from redis import Redis

from godhand_web.models import User
from sandboxes import thumbnails
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.models import Event, Machine, Screenshot, Snapshot, State
from sandboxes.screenshots import path_of
from tests.broker import Broker
from tests.chromium import CHROMIUM, FLAGS

from .site import Site

MachineOf = Callable[..., Machine]
SnapshotOf = Callable[..., Snapshot]
ALIVE = ("alive:agents", "alive:machines", "alive:beat")


@pytest.fixture
def workers(redis_url: str) -> Iterator[None]:
    """What they leave in Redis while they live."""
    with Redis.from_url(redis_url) as redis:
        redis.mset(dict.fromkeys(ALIVE, 1))
        yield
        redis.delete(*ALIVE)


@pytest.fixture
def gate(settings: LazySettings) -> Iterator[socket.socket]:
    """All that is asked of it here: it listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings.GATE_PORT = listener.getsockname()[1]
        yield listener


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One built image called desktop, and no other."""
    build = tmp_path / "images/desktop/0123"
    build.mkdir(parents=True)
    manifest = {
        "digest": "ab" * 32,
        "size": 1_400_000_000,
        "built": "2026-01-02T03:04:05+00:00",
        "packages": {"bash": "5.2"},
    }
    (build / "manifest.json").write_text(json.dumps(manifest))
    (build.parent / "current").symlink_to(build.name)
    monkeypatch.setattr("sandboxes.images.store.here", lambda: replace(here(), images=tmp_path / "images"))
    return build


@pytest.fixture
def machine_of() -> MachineOf:
    def make(owner: User, state: State = State.READY, name: str = "calm-heron", detail: str = "") -> Machine:
        machine = Machine.objects.create(
            name=name, owner=owner, backend="gvisor", image="desktop", host="here", state=state, detail=detail
        )
        Event.objects.create(machine=machine, state=State.QUEUED, text="Queued on here")
        return machine

    return make


@pytest.fixture
def snapshot_of() -> SnapshotOf:
    def make(machine: Machine, label: str = "before lunch", parent: Snapshot | None = None) -> Snapshot:
        return Snapshot.objects.create(
            id=new_id(),
            owner_id=machine.owner_id,
            machine=machine,
            parent=parent,
            label=label,
            backend="gvisor",
            image="desktop",
            image_digest="ab" * 32,
            host="here",
            keeps="disk+memory",
            size=312 * 2**20,
        )

    return make


@pytest.fixture
def screenshot_of(settings: LazySettings, tmp_path: Path) -> Callable[[Machine], Screenshot]:
    settings.SCREENSHOTS = tmp_path / "screenshots"

    def keep(machine: Machine) -> Screenshot:
        picture = b"RIFF....WEBP" + machine.pk.encode()
        sha256 = hashlib.sha256(picture).hexdigest()
        path_of(sha256).parent.mkdir(parents=True, exist_ok=True)
        path_of(sha256).write_bytes(picture)
        return Screenshot.objects.create(machine=machine, sha256=sha256, label="Saved", width=1280, height=800)

    return keep


@pytest.fixture
def thumbnail_of() -> Iterator[Callable[[Machine], None]]:
    """What a worker would have made while somebody looks at a wall."""
    yield lambda machine: thumbnails.keep(machine.pk, b"RIFF....WEBP")
    thumbnails.clear()


@pytest.fixture
def as_owner(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A Redis that a test may stop."""
    broker = Broker(tmp_path)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def own_site(tmp_path: Path, broker: Broker) -> Iterator[Site]:
    site = Site(tmp_path / "site", broker.url)
    site.home.mkdir()
    try:
        site.start()
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="session")
def served(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"), redis_url)
    try:
        site.start()
        site.keep()
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="module")
def site(served: Site) -> Site:
    """The pages served by a real Daphne, over machines in every state, as if no other module had been there."""
    served.restore()
    return served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not longer than a module: while it lives, Django takes the thread for an asynchronous one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
