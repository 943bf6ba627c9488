"""Programs in a machine."""

import pytest

from sandboxes.base import Sandbox
from sandboxes.errors import OutputLimit, Refused, TimedOut

MIB = 1 << 20


def runs(sandbox: Sandbox, marker: str) -> bool:
    """Whether a process has the marker among its arguments."""
    listing = sandbox.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null"])
    return marker.encode() in listing.stdout.split(b"\0")


def test_it_tells_how_a_program_ended_and_what_it_said(sandbox: Sandbox) -> None:
    result = sandbox.exec(["sh", "-c", "printf 'out\\377'; printf err >&2; exit 3"])
    assert (result.returncode, result.stdout, result.stderr) == (3, b"out\xff", b"err")


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/no/such", 127), ("/etc/passwd", 126)])
def test_it_takes_a_program_that_cannot_be_run_for_a_result(sandbox: Sandbox, program: str, code: int) -> None:
    assert sandbox.exec([program]).returncode == code


def test_it_tells_a_signal_from_a_timeout(sandbox: Sandbox) -> None:
    assert sandbox.exec(["sh", "-c", "kill -TERM $$"]).returncode == 143


def test_it_passes_arguments_as_they_are(sandbox: Sandbox) -> None:
    words = ["", "$HOME", "`id`", "a b", "'\"\\", "é\n", "*"]
    assert sandbox.exec(["printf", "%s|", *words]).stdout.decode() == "|".join([*words, ""])


def test_it_feeds_and_returns_any_bytes(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 100
    assert sandbox.exec(["cat"], stdin=data).stdout == data
    assert sandbox.exec(["cat"]).stdout == b""


def test_it_feeds_fifty_mebibytes(sandbox: Sandbox) -> None:
    assert sandbox.exec(["wc", "-c"], stdin=bytes(50 * MIB), timeout=120).stdout.strip() == str(50 * MIB).encode()


def test_it_kills_the_whole_tree_when_time_is_up(sandbox: Sandbox) -> None:
    escape = "(setsid sh -c 'sleep 98761 & exec sleep 98762' &); trap '' TERM INT HUP; sleep 98763; :"
    with pytest.raises(TimedOut):
        sandbox.exec(["sh", "-c", escape], timeout=1)
    assert not any(runs(sandbox, marker) for marker in ("98761", "98762", "98763"))


def test_it_does_not_return_more_than_ten_mebibytes(sandbox: Sandbox) -> None:
    assert len(sandbox.exec(["head", "-c", str(10 * MIB), "/dev/zero"]).stdout) == 10 * MIB
    with pytest.raises(OutputLimit):
        sandbox.exec(["head", "-c", str(10 * MIB + 1), "/dev/zero"])


def test_it_does_not_drown_in_output(sandbox: Sandbox) -> None:
    with pytest.raises((OutputLimit, TimedOut)):
        sandbox.exec(["head", "-c", "200M", "/dev/zero"], timeout=60)
    assert sandbox.exec(["true"]).returncode == 0


def test_it_runs_as_the_desktops_user_or_another(sandbox: Sandbox) -> None:
    assert sandbox.exec(["id", "-un"]).stdout == b"agent\n"
    assert sandbox.exec(["id", "-un"], user="root").stdout == b"root\n"
    with pytest.raises(Refused, match="no-such-user"):
        sandbox.exec(["true"], user="no-such-user")


def test_it_does_not_show_its_token_to_its_user(sandbox: Sandbox) -> None:
    environments = sandbox.exec(["sh", "-c", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null"]).stdout
    assert b"HOME=" in environments
    assert sandbox.endpoint().token.encode() not in environments


def test_it_runs_where_it_is_told(sandbox: Sandbox) -> None:
    home = sandbox.exec(["pwd"]).stdout.decode().strip()
    sandbox.exec(["mkdir", "-p", "below"])
    assert sandbox.exec(["pwd"], cwd="below").stdout.decode().strip() == f"{home}/below"
    assert sandbox.exec(["pwd"], cwd="/usr").stdout == b"/usr\n"
    with pytest.raises(FileNotFoundError, match="no/such"):
        sandbox.exec(["pwd"], cwd="no/such")


def test_it_adds_variables_to_the_users_own(sandbox: Sandbox) -> None:
    result = sandbox.exec(["sh", "-c", 'echo "$A|$HOME"'], env={"A": "b c=$d"})
    assert result.stdout.decode().startswith("b c=$d|/home/")
