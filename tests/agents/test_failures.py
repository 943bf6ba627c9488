"""The machine, its screen or the broker fails under a running branch."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from agents.models import Branch, State
from godhand_web.cli.processes import wait_until
from godhand_web.cli.system import REDIS_PROGRAMS
from godhand_web.models import User
from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from tests.conftest import answers
from tests.providers.wire import Hang, Request, Truncated, WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event

from .conftest import MODEL, Submit
from .story import actions, drive, story

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_it_goes_on_when_the_display_was_started_anew(branch: Branch, frail: GvisorSandbox, wire: WireServer) -> None:
    def restarts(_: Request) -> dict[str, Any]:
        frail.exec(["pkill", "-9", "Xvnc"], user="root")
        return message(action("screenshot"))

    wire.will(restarts, done())
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert actions(branch)[0] == ("screenshot", "done")


def test_it_gives_up_on_a_screen_that_stands_still(branch: Branch, frail: GvisorSandbox, wire: WireServer) -> None:
    def freezes(_: Request) -> dict[str, Any]:
        frail.exec(["pkill", "-STOP", "Xvnc"], user="root")
        return message(action("left_click", coordinate=[1, 1]))

    wire.will(freezes)
    assert drive(branch).state == State.INFRA_ERROR
    assert "does not answer" in branch.detail


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
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [f"unix://{broker.socket}"]},
        }
    }
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


class Broker:
    def __init__(self, directory: Path) -> None:
        self.socket = directory / "redis.sock"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:

        program = next(path for path in map(shutil.which, REDIS_PROGRAMS) if path)
        argv = ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--save", ""]
        self.process = subprocess.Popen(argv, executable=program, stdout=subprocess.DEVNULL)
        with Redis.from_url(f"unix://{self.socket}") as client:
            assert wait_until(lambda: answers(client), 10)

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.process = None
