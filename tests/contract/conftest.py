"""Every check here runs on every backend that can be used. GODHAND_REQUIRE=gvisor,… makes a missing one a failure."""

import os
from collections.abc import Callable, Iterator

import pytest

from sandboxes.base import Sandbox
from sandboxes.errors import NotBuilt
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.registry import kinds

from .gaps import KNOWN_GAPS

IMAGE = "desktop"
REQUIRED = {kind.strip() for kind in os.environ.get("GODHAND_REQUIRE", "").split(",")} - {""}


def missing(backend: type[Sandbox]) -> str | None:
    try:
        store.find(IMAGE)
    except NotBuilt as error:
        return str(error)
    return backend.unavailable_reason()


@pytest.fixture(scope="session", params=sorted(kinds()))
def backend(request: pytest.FixtureRequest) -> type[Sandbox]:
    kind: str = request.param
    reason = missing(kinds()[kind])
    if reason and kind in REQUIRED:
        pytest.fail(f"{kind} is required: {reason}")
    if reason:
        pytest.skip(f"{kind}: {reason}")
    return kinds()[kind]


@pytest.fixture(autouse=True)
def gap(request: pytest.FixtureRequest) -> None:
    """Only checks that ask for a backend, directly or not, have gaps."""
    if "backend" not in request.fixturenames:
        return
    kind = request.getfixturevalue("backend").kind
    reason = KNOWN_GAPS.get(kind, {}).get(request.node.originalname)
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(scope="package")
def sandbox(backend: type[Sandbox]) -> Iterator[Sandbox]:
    """One started machine that checks share: leave it as you found it."""
    made = backend.create(new_id(), store.find(IMAGE), backend.Options())
    try:
        made.start()
        yield made
    finally:
        made.destroy()


@pytest.fixture
def create(backend: type[Sandbox]) -> Iterator[Callable[[], Sandbox]]:
    """Makes machines that a check may do anything to."""
    made: list[Sandbox] = []

    def create() -> Sandbox:
        made.append(backend.create(new_id(), store.find(IMAGE), backend.Options()))
        return made[-1]

    yield create
    for sandbox in made:
        sandbox.destroy()
