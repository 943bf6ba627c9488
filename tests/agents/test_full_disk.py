"""The disk fills up under a running branch: it rests, and goes on where it was once there is room."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from agents import lifecycle
from agents.models import State
from tests.providers.wire import Request, WireServer
from tests.providers.wire.replies import action, message, use

from .conftest import Submit
from .story import actions, drive

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pictures() -> Iterator[Path]:
    """A disk of its own for what traces keep beside the database."""
    place = settings.HOST.home / "blobs"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))


def test_it_rests_while_the_disk_is_full_and_goes_on_where_it_was(
    pictures: Path, submit_to_claude: Submit, wire: WireServer
) -> None:
    branch, ballast = submit_to_claude(), pictures / "ballast"

    def fills(_: Request) -> dict[str, Any]:
        fill(ballast)
        return message(action("right_click", coordinate=[600, 400]))

    wire.will(fills)
    assert drive(branch).state == State.PAUSED, branch.detail
    assert "The disk is full" in branch.detail
    assert "free some space" in branch.detail
    ballast.unlink()
    lifecycle.request_resume(branch)
    wire.will(message(action("key", text="Escape")), message(use("done", summary="Done.")))
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert actions(branch) == [("right_click", "uncertain"), ("key", "done"), ("done", "done")]
