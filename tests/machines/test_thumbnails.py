"""Pictures for a wall: made of desktops that somebody looks at, and of no others."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from redis import Redis

from godhand_web.models import User
from sandboxes import thumbnails
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.models import Machine, State
from sandboxes.shelf import Shelf

pytestmark = pytest.mark.django_db


@pytest.fixture
def watchman(redis_url: str) -> Iterator[thumbnails.Watchman]:
    watchman = thumbnails.Watchman()
    yield watchman
    with Redis.from_url(redis_url) as redis:
        redis.delete(thumbnails.WATCHED)
    watchman.go_round()


@pytest.fixture
def row(owner: User, machine: GvisorSandbox, settings: LazySettings) -> Machine:
    return Machine.objects.create(
        name="on-the-wall",
        owner=owner,
        backend="gvisor",
        image="desktop",
        host=settings.MACHINE_HOST,
        state=State.READY,
        handle=machine.handle,
    )


def test_it_makes_a_picture_while_somebody_looks_and_keeps_none_after(
    row: Machine, watchman: thumbnails.Watchman, redis_url: str
) -> None:
    watchman.go_round()
    assert thumbnails.picture(row.pk) is None
    assert thumbnails.watch([row.pk]) == {}
    watchman.go_round()
    [(machine_id, name)] = thumbnails.watch([row.pk]).items()
    assert machine_id == row.pk
    found = thumbnails.picture(row.pk)
    assert found is not None
    assert (found[0], found[1][:4], found[1][8:12]) == (name, b"RIFF", b"WEBP")
    assert len(found[1]) < 60_000
    assert len(thumbnails.ports()) == 1
    with Redis.from_url(redis_url) as redis:
        redis.zadd(thumbnails.WATCHED, {row.pk: time.time() - 1})
    watchman.go_round()
    assert thumbnails.picture(row.pk) is None


def test_it_leaves_a_machine_that_does_not_answer_alone_for_a_while(
    row: Machine, watchman: thumbnails.Watchman, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", thumbnails.__name__)
    Machine.objects.update(handle={**row.handle, "address": "127.0.0.1", "pid": None})
    thumbnails.watch([row.pk])
    watchman.go_round()
    assert thumbnails.picture(row.pk) is None
    watchman.go_round()
    assert [row.pk in message for message in caplog.messages] == [True]


def test_it_keeps_the_newest_of_each_and_drops_the_old(tmp_path: Path) -> None:
    shelf = Shelf("shelf", otherwise=tmp_path, memory=tmp_path)
    assert not shelf.touch("a")
    shelf.put("a", b"first")
    shelf.put("a", b"second")
    shelf.put("b", b"other")
    found = shelf.get("a")
    assert found is not None
    assert found[1] == b"second"
    assert set(shelf.names(["a", "b", "c"])) == {"a", "b"}
    assert len(list((tmp_path / "shelf").iterdir())) == 2
    shelf.remove("a")
    assert shelf.get("a") is None


def test_it_does_not_use_a_directory_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "shelf").symlink_to("elsewhere")
    shelf = Shelf("shelf", otherwise=tmp_path, memory=tmp_path)
    with pytest.raises(PermissionError):
        shelf.put("a", b"secret")
    (tmp_path / "elsewhere/a.1").write_bytes(b"planted")
    assert shelf.get("a") is None
