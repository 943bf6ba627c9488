"""`command_succeeds`, `process_running`, `window_open` and `http_ok` in a machine."""

from collections.abc import Iterator

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox

from ..guest.waiting import eventually
from .conftest import TITLE, Xmessage, start
from .scenes import checker, passed

PORT = 8437


def look(scene: MachineScene, kind: str, **options: object) -> Finding:
    return checker(kind, **options).check(scene)


def test_it_runs_a_program(scene: MachineScene) -> None:
    assert passed(look(scene, "command_succeeds", argv=["printf", "%s", "a b; $HOME"], stdout="a b; $HOME"))
    assert passed(look(scene, "command_succeeds", argv=["false"], exit_code=1))


def test_it_runs_a_line_of_bash_as_somebody(scene: MachineScene) -> None:
    assert passed(look(scene, "command_succeeds", bash="id -un | rev", stdout="toor", user="root"))
    assert passed(look(scene, "command_succeeds", bash="id -un", stdout="agent"))


def test_it_says_how_a_command_ended(scene: MachineScene) -> None:
    finding = look(scene, "command_succeeds", bash="echo so far; echo no >&2; exit 3", stdout="done")
    assert not passed(finding)
    assert "exit code 0 and prints “done”" in finding.expected
    assert finding.actual == "It ended with exit code 3 and printed “so far”."
    assert finding.detail == "Its errors: “no”."
    assert not passed(look(scene, "command_succeeds", argv=["echo", "almost"], stdout="done"))
    assert "exit code 127" in look(scene, "command_succeeds", argv=["no-such-program"]).actual


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"argv": ["sleep", "60"], "timeout": 0.2}, "took longer than 0.2 seconds"),
        ({"argv": ["true"], "user": "nobody-here"}, "nobody-here"),
        ({"bash": "head -c 2M /dev/zero"}, "gave more than"),
    ],
)
def test_it_cannot_say_how_a_command_would_end(scene: MachineScene, options: dict[str, object], reason: str) -> None:
    finding = look(scene, "command_succeeds", **{"timeout": 20, **options})
    assert finding.outcome is Outcome.ERRORED
    assert reason in finding.detail


def test_it_finds_processes(scene: MachineScene) -> None:
    finding = look(scene, "process_running", program="openbox")
    assert passed(finding)
    assert "openbox" in finding.actual
    assert passed(look(scene, "process_running", program="Xvnc", argv=["-geometry", "1280x800"]))
    assert not passed(look(scene, "process_running", program="openbox", absent=True))


def test_it_misses_processes(scene: MachineScene) -> None:
    assert not passed(look(scene, "process_running", program="openb"))
    assert not passed(look(scene, "process_running", program="Xvnc", argv=["1280x800", "-geometry"]))
    assert not passed(look(scene, "process_running", argv=["no such argument"]))
    assert passed(look(scene, "process_running", program="in_machine_lists", absent=True))


def test_it_finds_a_window(scene: MachineScene, window: Xmessage) -> None:
    finding = look(scene, "window_open", title=r'^He said "hi" é \[\d\]$', window_class="XMESSAGE")
    assert passed(finding)
    assert TITLE in finding.actual
    assert not passed(look(scene, "window_open", title="He said", absent=True))


def test_it_misses_a_window(scene: MachineScene, window: Xmessage) -> None:
    finding = look(scene, "window_open", title="She said")
    assert not passed(finding)
    assert TITLE in finding.actual
    assert not passed(look(scene, "window_open", title="He said", window_class="mousepad"))
    assert passed(look(scene, "window_open", title="She said", absent=True))
    assert not passed(look(scene, "window_open", title="panel"))


@pytest.fixture
def website(machine: GvisorSandbox, scene: MachineScene, folder: str) -> Iterator[str]:
    machine.write_file(f"{folder}/hello.txt", b"Hello, world")
    machine.write_file(f"{folder}/large.txt", bytes(2 << 20))
    start(machine, "python3", "-m", "http.server", str(PORT), "--bind", "127.0.0.1", "--directory", folder)
    url = f"http://127.0.0.1:{PORT}"
    eventually(lambda: passed(look(scene, "http_ok", url=url)), 20)
    yield url
    machine.exec(["pkill", "-f", f"http.server {PORT}"])


def test_it_asks_a_website_inside_the_machine(scene: MachineScene, website: str) -> None:
    assert passed(look(scene, "http_ok", url=f"{website}/hello.txt", body="Hello"))
    assert passed(look(scene, "http_ok", url=f"{website}/none", status=404))


def test_it_says_what_a_website_answers_instead(scene: MachineScene, website: str) -> None:
    finding = look(scene, "http_ok", url=f"{website}/hello.txt", body="Good bye")
    assert not passed(finding)
    assert finding.actual == "Status 200 and a body that begins “Hello, world”."
    assert look(scene, "http_ok", url=f"{website}/none").actual.startswith("Status 404")


def test_it_says_that_nothing_answers(scene: MachineScene) -> None:
    finding = look(scene, "http_ok", url="http://127.0.0.1:9/")
    assert not passed(finding)
    assert "Could not connect" in finding.actual


def test_it_cannot_judge_a_body_without_end(scene: MachineScene, website: str) -> None:
    finding = look(scene, "http_ok", url=f"{website}/large.txt")
    assert (finding.outcome, finding.detail) == (Outcome.ERRORED, "The body is too large.")
