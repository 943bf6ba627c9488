import os
from contextlib import suppress

import pytest

from sandboxes.errors import OutputLimit, Refused, TimedOut
from sandboxes.guest.client import MIB, ExecResult, Guest

from .conftest import UID, Daemon
from .waiting import eventually, running


def shell(guest: Guest, script: str, **options: float) -> ExecResult:
    return guest.exec(["sh", "-c", script], **options)  # type: ignore[arg-type]


def test_it_keeps_output_and_errors_apart(guest: Guest) -> None:
    assert shell(guest, "printf 'out\\377'; printf err >&2; exit 3") == ExecResult(3, b"out\xff", b"err")


def test_it_runs_as_the_agent_with_nothing_left_of_root(guest: Guest) -> None:
    status = shell(guest, "cat /proc/self/status").stdout.decode()
    for line in ("Uid", "Gid"):
        assert f"{line}:\t{UID}\t{UID}\t{UID}\t{UID}\n" in status
    assert f"Groups:\t{UID} \n" in status
    assert "CapEff:\t0000000000000000" in status
    assert "CapPrm:\t0000000000000000" in status


def test_it_runs_as_another_user(guest: Guest) -> None:
    assert guest.exec(["id", "-un"], user="root").stdout == b"root\n"


def test_it_refuses_an_unknown_user(guest: Guest) -> None:
    with pytest.raises(Refused, match="nobody-here"):
        guest.exec(["id"], user="nobody-here")


def test_it_starts_at_home_with_the_users_own_environment(guest: Guest, daemon: Daemon) -> None:
    result = shell(guest, 'echo "$PWD $HOME $USER $LOGNAME $DISPLAY $LANG $XDG_RUNTIME_DIR ${GODHAND_TOKEN-none}"')
    home = daemon.home
    assert result.stdout.decode() == f"{home} {home} agent agent :1 C.UTF-8 /run/user/{UID} none\n"


def test_it_adds_variables(guest: Guest) -> None:
    assert guest.exec(["printenv", "A"], env={"A": "b c=d"}).stdout == b"b c=d\n"


def test_it_takes_a_directory_relative_to_home(guest: Guest, daemon: Daemon) -> None:
    guest.exec(["mkdir", "-p", "below"])
    assert guest.exec(["pwd"], cwd="below").stdout.decode() == f"{daemon.home}/below\n"
    assert guest.exec(["pwd"], cwd="/usr").stdout == b"/usr\n"


def test_it_names_a_directory_that_is_not_there(guest: Guest) -> None:
    with pytest.raises(FileNotFoundError, match="no/such"):
        guest.exec(["pwd"], cwd="no/such")


@pytest.mark.parametrize(
    ("program", "code"), [("no-such-program", 127), ("/no/such", 127), ("/etc/passwd", 126), ("/etc", 126)]
)
def test_it_tells_what_cannot_be_run_by_the_code(guest: Guest, program: str, code: int) -> None:
    result = guest.exec([program])
    assert result.returncode == code
    assert program.encode() in result.stderr


def test_it_tells_a_signal_by_the_code(guest: Guest) -> None:
    assert shell(guest, "kill -TERM $$").returncode == 143


def test_it_feeds_binary_input(guest: Guest) -> None:
    data = bytes(range(256))
    assert guest.exec(["cat"], stdin=data).stdout == data
    assert guest.exec(["cat", "/dev/stdin"], stdin=data).stdout == data
    assert guest.exec(["cat"]).stdout == b""


def test_it_feeds_fifty_mebibytes(guest: Guest) -> None:
    assert guest.exec(["wc", "-c"], stdin=b"\xc3" * (50 * MIB)).stdout.strip() == str(50 * MIB).encode()


def test_it_passes_a_mebibyte_of_arguments_unchanged(guest: Guest) -> None:
    words = ["x" * 65536] * 15 + ["\udcff\n'\"$é"]
    assert guest.exec(["printf", "%s", *words]).stdout == os.fsencode("".join(words))


def test_it_does_not_hold_more_output_than_allowed(guest: Guest) -> None:
    assert len(guest.exec(["head", "-c", "1000", "/dev/zero"], output_limit=1000).stdout) == 1000
    with pytest.raises(OutputLimit, match="1000"):
        guest.exec(["head", "-c", "100000000", "/dev/zero"], output_limit=1000)


def test_it_leaves_the_connection_usable_after_every_refusal(guest: Guest) -> None:
    for argv in ([], [""], ["a\0b"]):
        with suppress(Refused):
            assert guest.exec(argv, stdin=b"x" * 300_000).returncode == 127
    assert guest.exec(["echo", "fine"]).stdout == b"fine\n"


def test_it_kills_those_who_tried_to_get_away(guest: Guest) -> None:
    escape = "(setsid sh -c 'sleep 98761 & exec sleep 98762' &); trap '' TERM INT HUP; echo up; sleep 98763; :"
    with pytest.raises(TimedOut):
        shell(guest, escape, timeout=0.5)
    assert not any(running(marker) for marker in ("98761", "98762", "98763"))


def test_it_kills_what_keeps_forking(guest: Guest) -> None:
    with pytest.raises(TimedOut):
        shell(guest, 'echo "$0" >/dev/null; while :; do (sleep 98764 & sleep 98764 &); sleep 0.01; done', timeout=0.5)
    assert not running("98764")


def test_it_does_not_wait_for_a_daemon_that_a_command_leaves_behind(guest: Guest) -> None:
    result = shell(guest, "sleep 98765 & echo $!", timeout=30)
    assert running("98765")
    guest.exec(["kill", result.stdout.decode().strip()])
    eventually(lambda: not running("98765"))


def test_it_ends_at_the_timeout_a_command_whose_output_never_ends(guest: Guest) -> None:
    with pytest.raises(TimedOut):
        guest.exec(["yes"], timeout=0.5)
