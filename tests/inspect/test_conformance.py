"""Every check that Inspect has for a sandbox, on one of our machines. Their names are Inspect's."""

import pytest
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from sandboxes.base import Sandbox

from .adapter import GodHandSandboxEnvironment

pytestmark = pytest.mark.anyio

KNOWN_GAPS: dict[str, str] = {}
CHECKS = 44


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sandbox_env(request: pytest.FixtureRequest, machine: Sandbox) -> SandboxEnvironment:
    gap = KNOWN_GAPS.get(request.node.originalname)
    if gap:
        request.applymarker(pytest.mark.xfail(reason=gap, strict=True))
    return GodHandSandboxEnvironment(machine)


def test_it_runs_every_check_there_is() -> None:
    assert len(self_check.__all__) == CHECKS
    assert set(self_check.__all__) <= set(globals())
