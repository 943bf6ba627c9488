"""Two people with drive tickets and raw WebSockets, and one who may: what the display itself saw decides."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby, pairwise, permutations
from struct import pack
from typing import Any, cast

import pytest
from websockets.exceptions import ConnectionClosed

from agents.workplace import Workplace
from sandboxes.actions import Hold, Move
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.errors import Taken

from .conftest import OWNER, SECOND, Browser, RunningGate, wait_until
from .test_gate import pointer

Seen = Callable[[], list[str]]
ROW = 300
PLACES = {"user:7": 20, "user:9": 200, "agent": 380}


@pytest.fixture
def window(machine: GvisorSandbox) -> Iterator[Callable[[], str]]:
    """What a window in the machine was told of pointer and keys."""
    events = "-event mouse -event keyboard"
    with machine.guest() as guest:
        guest.bash(f"rm -f /tmp/told; stdbuf -oL xev -geometry 500x400+100+100 {events} >/tmp/told &", session="xev")
    found = machine.exec(["xdotool", "search", "--sync", "--onlyvisible", "--name", "Event Tester"], timeout=30).stdout
    machine.exec(["xdotool", "windowactivate", "--sync", found.decode().split()[0]], timeout=30)
    yield lambda: machine.read_file("/tmp/told").decode()
    with machine.guest() as guest:
        guest.restart_bash("xev")


@pytest.fixture
def seen(window: Callable[[], str]) -> Seen:
    """Whose hand moved the pointer, in the order in which the window was told."""

    def read() -> list[str]:
        columns = [int(column) for column in re.findall(rf"MotionNotify.*\n.*\n?.*root:\((\d+),{ROW}\)", window())]
        return [min(PLACES, key=lambda who: abs(PLACES[who] + 140 - column)) for column in columns]

    return read


def move(x: int, y: int) -> bytes:
    return pack("!BBHH", 5, 0, x, y)


def driver(gate: RunningGate, user: str = OWNER) -> Browser:
    return Browser(gate.connect(gate.ticket("drive", user=user)))


def test_it_moves_nothing_for_a_raw_client_without_the_lease(gate: RunningGate, machine: GvisorSandbox) -> None:
    with machine.desktop() as desktop:
        desktop.perform(Move(640, 400))
        for holder in ("", "agent", "user:9", "user:77"):
            gate.give(holder)
            browser = driver(gate)
            browser.send(move(33, 44) + pack("!BBxxI", 4, 1, ord("q")) + pack("!BBxxI", 4, 0, ord("q")))
            browser.round_trip()
            assert pointer(machine) == (640, 400), holder


def test_it_flips_the_same_connection_there_and_back(gate: RunningGate, machine: GvisorSandbox) -> None:
    browser = driver(gate)
    for holder, there in (("", False), ("user:7", True), ("agent", False), ("user:7", True), ("user:9", False)):
        gate.give(holder)
        before, place = pointer(machine), (300 + gate.epoch, 333)
        browser.send(move(*place))
        browser.round_trip()
        assert pointer(machine) == (place if there else before), holder


def test_it_drops_input_once_the_time_is_over(gate: RunningGate, machine: GvisorSandbox) -> None:
    gate.give("user:7", seconds=-1)
    before, browser = pointer(machine), driver(gate)
    browser.send(move(5, 5))
    browser.round_trip()
    assert pointer(machine) == before


def test_it_lets_keys_go_when_control_is_taken_from_under_them(gate: RunningGate, window: Callable[[], str]) -> None:
    gate.give("user:7")
    browser = driver(gate)
    browser.send(pack("!BBxxI", 4, 1, 0xFFE1))
    wait_until(lambda: "KeyPress" in window())
    assert "KeyRelease" not in window()
    gate.give("user:9")
    with pytest.raises(ConnectionClosed) as closed:
        browser.client.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4001
    wait_until(lambda: "KeyRelease" in window())


@pytest.fixture
def still(machine: GvisorSandbox) -> Iterator[None]:
    """Nothing wakes the display by itself: the panel's clock would."""
    machine.exec(["pkill", "-STOP", "tint2"])
    yield
    machine.exec(["pkill", "-CONT", "tint2"])


def drag(gate: RunningGate, window: Callable[[], str]) -> Browser:
    """A button has been down for so long that the display sleeps."""
    gate.give("user:7")
    browser, presses = driver(gate), window().count("ButtonPress")
    browser.send(move(300, 300) + pack("!BBHH", 5, 1, 310, 300))
    wait_until(lambda: window().count("ButtonPress") > presses)
    asleep = time.monotonic() + 1
    wait_until(lambda: time.monotonic() > asleep)
    assert window().count("ButtonRelease") == presses
    return browser


@pytest.mark.usefixtures("still")
def test_it_lets_the_button_go_when_control_is_taken_in_the_middle_of_a_drag(
    gate: RunningGate, window: Callable[[], str]
) -> None:
    browser = drag(gate, window)
    gate.give("user:9")
    with pytest.raises(ConnectionClosed) as closed:
        browser.client.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4001
    wait_until(lambda: "ButtonRelease" in window())


@pytest.mark.usefixtures("still")
def test_it_lets_the_button_go_when_the_browser_goes_in_the_middle_of_a_drag(
    gate: RunningGate, window: Callable[[], str]
) -> None:
    for drags in (1, 2, 3):
        drag(gate, window).client.socket.close()
        wait_until(lambda drags=drags: window().count("ButtonRelease") == drags)  # type: ignore[misc]


def test_it_has_one_writer_whoever_takes_it_from_whom(gate: RunningGate, machine: GvisorSandbox, seen: Seen) -> None:
    """All three send all the time. Each holds it until the window has felt it, so the log is one run for each."""
    first, second, agent = PLACES
    order = [first, second, agent, first, agent, second, first, second, agent, second, agent, first]
    assert set(pairwise(order)) == set(permutations(PLACES, 2))
    over = threading.Event()
    people = {first: driver(gate), second: driver(gate, SECOND)}
    hands = [threading.Thread(target=fidget, args=(browser, who, over)) for who, browser in people.items()]
    hands.append(threading.Thread(target=act, args=(machine, gate, over)))
    for hand in hands:
        hand.start()
    try:
        for who in order:
            gate.give(who)
            wait_until(lambda who=who: who in seen()[-1:])  # type: ignore[misc]
    finally:
        over.set()
        for hand in hands:
            hand.join()
    assert [who for who, _ in groupby(seen())] == order


def fidget(browser: Browser, who: str, over: threading.Event) -> None:
    step = 0
    while not over.wait(0.002):
        step += 1
        browser.send(move(120 + PLACES[who] + step % 40, ROW))


def act(machine: GvisorSandbox, gate: RunningGate, over: threading.Event) -> None:
    """The agent knows nothing of the fight: it just goes on, and is refused when it is not its turn."""
    step = 0
    with guarded(machine, gate) as desktop:
        while not over.wait(0.002):
            step += 1
            with suppress(Taken):
                desktop.perform(Move(120 + PLACES["agent"] + step % 40, ROW))


def fenced(machine: GvisorSandbox, gate: RunningGate) -> GvisorSandbox:
    mine = GvisorSandbox.attach(machine.handle)
    mine.guard = lambda: gate.fence.passing("agent")
    return mine


def guarded(machine: GvisorSandbox, gate: RunningGate) -> Desktop:
    return fenced(machine, gate).desktop()


def test_it_refuses_an_agent_in_the_middle_of_an_action(gate: RunningGate, machine: GvisorSandbox) -> None:
    gate.give("agent")
    desktop, began = guarded(machine, gate), time.monotonic()
    taker = threading.Timer(0.7, gate.give, ["user:7"])
    taker.start()
    with pytest.raises(Taken):
        desktop.perform(Hold("q", 60))
    assert time.monotonic() - began < 30
    desktop.close()
    taker.join()


def test_it_shows_an_agent_nothing_while_a_person_drives(gate: RunningGate, machine: GvisorSandbox) -> None:
    place = Workplace(fenced(machine, gate), cast(Any, None))
    gate.give("agent")
    assert place.look().size == (1280, 800)
    gate.give("user:7")
    with pytest.raises(Taken):
        place.look()
    gate.give("agent")
    assert place.look().size == (1280, 800)
    place.leave()
