"""A task with rows on the shared desktop, driven in this process. Machine, database, files and wire are real."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection

from agents import api, runner
from agents.models import Branch
from godhand_web.models import User
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.models import Machine, State
from tests.providers.wire import KEY, WireServer

MODEL = "claude-opus-5-5"
Submit = Callable[..., Branch]
Begin = Callable[[Branch], None]
KEEP = "test -e /tmp/kept || cp -a /home/agent /tmp/kept"
TIDY = "pkill -x 'mousepad|gnumeric|xev|zenity'; rm -rf /home/agent/* && cp -a /tmp/kept/. /home/agent/"


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with WireServer() as server:
        yield server


@pytest.fixture
def machine_row(machine: GvisorSandbox, owner: User) -> Iterator[Machine]:
    """The shared desktop, with its home folder and windows as they were afterwards."""
    row = Machine.objects.create(
        id=machine.id, name="shared", owner=owner, backend="gvisor", image="desktop", host="here", state=State.READY,
        handle=machine.handle,
    )  # fmt: skip
    machine.exec(["sh", "-c", KEEP], user="root")
    yield row
    machine.exec(["sh", "-c", TIDY], user="root")


@pytest.fixture
def row(machine: GvisorSandbox, machine_row: Machine, settings: Any) -> Iterator[Machine]:
    """The same for take-overs, which change its key: the others who share it have to know.

    Asked for before `begin`, so that whoever drives has ended when it is told.
    """
    settings.TAKEOVER_SNAPSHOTS = False
    yield machine_row
    machine_row.refresh_from_db()
    machine.handle = machine_row.handle


@pytest.fixture
def submit(machine_row: Machine, owner: User, redis_url: str) -> Submit:
    def submit(goal: str = "Do it.", **more: Any) -> Branch:
        run = api.submit(owner, goal, **{"keep_machine": True, **more})
        branch = run.branches.get()
        Branch.objects.filter(pk=branch.pk).update(machine=machine_row)
        branch.refresh_from_db()
        return branch

    return submit


@pytest.fixture
def submit_to_claude(submit: Submit, wire: WireServer) -> Submit:
    def submit_to_claude(goal: str = "Do it.", **more: Any) -> Branch:
        options = {"model": MODEL, "base_url": wire.anthropic_url, "timeout": 20.0}
        return submit(goal, provider="anthropic", options=options, **more)

    return submit_to_claude


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Drive a branch beside the test."""
    threads: list[threading.Thread] = []

    def work(branch: Branch) -> None:
        try:
            runner.drive(branch.pk)
        finally:
            connection.close()

    def begin(branch: Branch) -> None:
        threads.append(threading.Thread(target=work, args=(branch,)))
        threads[-1].start()

    yield begin
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
