"""The machine, its screen or the broker fails under a running branch."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents import lifecycle
from agents.models import Branch, State
from godhand_web.models import User
from sandboxes import forking, reaper
from sandboxes import lifecycle as machines
from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.display.desktop import Desktop
from sandboxes.display.wire import TIMEOUT
from sandboxes.errors import Gone
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from tests.broker import Broker
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, Request, Truncated, WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event

from .conftest import MODEL, Submit
from .story import actions, drive, story

pytestmark = pytest.mark.django_db(transaction=True)
Capture = pytest.CaptureFixture[str]
NOTICED_SECONDS = 5


@pytest.fixture
def frail(owner: User) -> Iterator[GvisorSandbox]:
    """A machine of one's own, to be broken."""
    sandbox = GvisorSandbox.create(new_id(), store.find("desktop"), Options())
    try:
        sandbox.start()
        Machine.objects.create(
            id=sandbox.id, name="frail", owner=owner, backend="gvisor", image="desktop", host="here",
            state=MachineState.READY, handle=sandbox.handle,
        )  # fmt: skip
        yield sandbox
    finally:
        sandbox.destroy()


@pytest.fixture
def branch(frail: GvisorSandbox, submit_to_claude: Submit) -> Branch:
    branch = submit_to_claude()
    Branch.objects.filter(pk=branch.pk).update(machine=frail.id)
    return branch


def done() -> dict[str, Any]:
    return message(use("done", summary="Done."))


def kill_the_kernel(machine: GvisorSandbox) -> None:
    os.kill(machine.handle["pid"], signal.SIGKILL)


def kill_init(machine: GvisorSandbox) -> None:
    with suppress(Gone):
        machine.exec(["kill", "-KILL", "1"], user="root")


def test_it_says_that_the_machine_died_and_blames_nobody(
    branch: Branch, frail: GvisorSandbox, wire: WireServer
) -> None:
    def dies(_: Request) -> dict[str, Any]:
        frail.stop()
        return message(action("left_click", coordinate=[1, 1]))

    wire.will(dies)
    assert drive(branch).state == State.INFRA_ERROR
    assert "machine does not answer" in branch.detail
    assert story(branch)[-1] == "error broken"
    assert actions(branch) == [("left_click", "planned")]


@pytest.mark.parametrize("kill", [kill_the_kernel, kill_init])
def test_it_knows_at_once_that_a_machine_died_under_a_command(
    branch: Branch, frail: GvisorSandbox, wire: WireServer, kill: Callable[[GvisorSandbox], None], capsys: Capture
) -> None:
    """Whoever only waits for an answer would wait for as long as the command may take."""
    died: list[float] = []

    def dies() -> None:
        eventually(lambda: frail.exec(["test", "-e", "/tmp/begun"]).returncode == 0)
        kill(frail)
        died.append(time.monotonic())

    wire.will(message(use("bash", command="touch /tmp/begun; sleep 1000")))
    killer = Thread(target=dies)
    killer.start()
    assert drive(branch).state == State.INFRA_ERROR
    ended = time.monotonic()
    killer.join()
    assert branch.detail.startswith("The machine does not answer any more")
    assert branch.detail.endswith("ended.")
    with capsys.disabled():
        print(f" {ended - died[0]:.2f} s from {kill.__name__} to the run's end", end="")
    assert ended - died[0] < NOTICED_SECONDS


def test_it_rests_with_the_reason_when_its_machine_has_been_on_for_too_long(
    branch: Branch, frail: GvisorSandbox, wire: WireServer, settings: Any
) -> None:
    settings.MACHINE_HOST, settings.WALL_MINUTES = "here", 30

    def while_it_is_stopped(_: Request) -> dict[str, Any]:
        Machine.objects.filter(pk=frail.id).update(state_since=timezone.now() - timedelta(minutes=31))
        reaper.stop_unused()
        forking.stop(frail.id)
        connection.close()
        return message(action("left_click", coordinate=[250, 250]))

    wire.will(while_it_is_stopped)
    assert drive(branch).state == State.PAUSED
    assert "Its machine was stopped. It has been on for 30 min" in branch.detail
    assert forking.request_resume(Machine.objects.get(pk=frail.id))
    machines.create(frail.id)
    lifecycle.request_resume(branch)
    wire.will(done())
    assert drive(branch).state == State.SUCCEEDED
    assert actions(branch) == [("left_click", "done"), ("done", "done")]


def test_it_goes_on_when_the_display_was_started_anew(branch: Branch, frail: GvisorSandbox, wire: WireServer) -> None:
    def restarts(_: Request) -> dict[str, Any]:
        frail.exec(["pkill", "-9", "Xvnc"], user="root")
        return message(action("screenshot"))

    wire.will(restarts, done())
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert actions(branch)[0] == ("screenshot", "done")


def test_it_asks_a_screen_that_stands_still_again_and_then_gives_up(
    branch: Branch, frail: GvisorSandbox, wire: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[float] = []
    connect = GvisorSandbox.desktop

    def tried(sandbox: GvisorSandbox) -> Desktop:
        tries.append(time.monotonic())
        return connect(sandbox)

    def freezes(_: Request) -> dict[str, Any]:
        frail.exec(["pkill", "-STOP", "Xvnc"], user="root")
        monkeypatch.setattr(GvisorSandbox, "desktop", tried)
        tries.append(time.monotonic())
        return message(action("left_click", coordinate=[1, 1]))

    wire.will(freezes)
    assert drive(branch).state == State.INFRA_ERROR
    assert "does not answer" in branch.detail
    frozen, again, *_ = tries
    assert again - frozen < TIMEOUT + NOTICED_SECONDS
    assert actions(branch) == [("left_click", "planned")]


@pytest.mark.parametrize("fault", [Truncated(), Hang()])
def test_it_asks_again_when_no_whole_answer_comes(submit: Submit, wire: WireServer, fault: Hang | Truncated) -> None:
    options = {"model": MODEL, "base_url": wire.anthropic_url, "timeout": 1.0}
    branch = submit(provider="anthropic", options=options)
    wire.will(fault, done())
    assert drive(branch).state == State.SUCCEEDED
    assert len(wire.requests) == 2


def test_it_goes_on_while_the_broker_is_away(
    submit_to_claude: Submit, wire: WireServer, tmp_path: Path, settings: Any
) -> None:
    """Messages are hints: a Redis that was shut down and emptied costs nothing but hints."""
    broker = Broker(tmp_path)
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "godhand_web.layer.Layer", "CONFIG": {"url": broker.url}}}
    broker.start()
    branch = submit_to_claude()

    def leaves(_: Request) -> dict[str, Any]:
        broker.stop()
        return message(use("bash", command="echo one"))

    def returns(_: Request) -> dict[str, Any]:
        broker.start()
        return message(use("bash", command="echo two"))

    wire.will(leaves, returns, done())
    try:
        assert drive(branch).state == State.SUCCEEDED
    finally:
        broker.stop()
    numbers = list(Event.objects.filter(trace=branch.run.trace_id).order_by("seq").values_list("seq", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
