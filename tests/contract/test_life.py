"""Making machines, finding them again, and getting rid of them."""

import json
from collections.abc import Callable

import pytest

from sandboxes.base import Sandbox
from sandboxes.errors import Gone

Create = Callable[[], Sandbox]


def owned(backend: type[Sandbox]) -> set[str]:
    return {json.dumps(handle, sort_keys=True) for handle in backend.owned()}


def test_it_is_started(sandbox: Sandbox) -> None:
    assert sandbox.alive()
    assert sandbox.exec(["true"]).returncode == 0


def test_it_is_reached_from_another_process_by_its_handle(backend: type[Sandbox], sandbox: Sandbox) -> None:
    again = backend.attach(json.loads(json.dumps(sandbox.handle)))
    assert again.alive()
    again.write_file("/tmp/by-handle", b"1")
    assert sandbox.read_file("/tmp/by-handle") == b"1"


def test_it_does_not_run_before_it_is_started(create: Create) -> None:
    sandbox = create()
    assert not sandbox.alive()
    sandbox.stop()
    with pytest.raises(Gone):
        sandbox.exec(["true"])


def test_it_is_owned_from_the_moment_it_is_made_until_it_is_destroyed(backend: type[Sandbox], create: Create) -> None:
    before = owned(backend)
    create()
    new = owned(backend) - before
    assert len(new) == 1
    backend.attach(json.loads(new.pop())).destroy()
    assert owned(backend) == before


def test_it_ends_with_everything_in_it(backend: type[Sandbox], create: Create) -> None:
    before = owned(backend)
    sandbox = create()
    sandbox.start()
    assert sandbox.alive()
    for _ in range(2):
        sandbox.stop()
        assert not sandbox.alive()
    with pytest.raises(Gone):
        sandbox.exec(["true"])
    with pytest.raises(Gone):
        sandbox.desktop()
    for _ in range(2):
        sandbox.destroy()
        assert owned(backend) == before
    assert not sandbox.alive()


def test_it_is_destroyed_while_it_runs(backend: type[Sandbox], create: Create) -> None:
    before = owned(backend)
    sandbox = create()
    sandbox.start()
    backend.attach(json.loads(json.dumps(sandbox.handle))).destroy()
    assert not sandbox.alive()
    assert owned(backend) == before
