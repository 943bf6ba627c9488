import threading

import pytest

from sandboxes.errors import Refused
from sandboxes.guest.client import Guest

from .conftest import Daemon
from .waiting import eventually, running


def test_it_keeps_directory_variables_functions_and_jobs(guest: Guest) -> None:
    guest.bash("cd /usr; A=1; declare -x B=2; f() { echo f$A; }; sleep 87651 &", session="keeps")
    result = guest.bash("pwd; f; printenv B; jobs -r; kill %1", session="keeps")
    assert result.output.decode().split()[:3] == ["/usr", "f1", "2"]
    assert b"sleep 87651" in result.output
    eventually(lambda: not running("87651"))


def test_it_gives_output_and_errors_in_order_with_the_status(guest: Guest) -> None:
    result = guest.bash("echo one; echo two >&2; echo three; (exit 5)")
    assert (result.output, result.exit_code) == (b"one\ntwo\nthree\n", 5)


@pytest.mark.parametrize(
    "command", ["echo 'open", "if true", ")", "cat <<EOF\nnever ends", "break; return 1", "# note"]
)
def test_it_survives_commands_that_make_no_sense(guest: Guest, command: str) -> None:
    guest.bash("HERE=yes", session="nonsense")
    assert not guest.bash(command, session="nonsense").restarted
    assert guest.bash("echo $HERE", session="nonsense").output == b"yes\n"


def test_it_gives_commands_no_input_to_swallow(guest: Guest) -> None:
    assert guest.bash("cat; read line; echo $?").output == b"1\n"


def test_it_runs_long_and_odd_text_unchanged(guest: Guest) -> None:
    text = "é'\"!$(x)`\\ \udcff\n" * 10_000
    result = guest.bash(f"cat <<'THE_END' | sha256sum\n{text}THE_END")
    assert result.output == guest.exec(["sha256sum"], stdin=text.encode(errors="surrogateescape")).stdout


def test_it_keeps_sessions_apart(guest: Guest) -> None:
    guest.bash("A=first", session="first")
    assert guest.bash("echo $A", session="second").output == b"\n"
    assert guest.bash("id -un", session="first", user="root").output == b"root\n"


def test_it_interrupts_a_slow_command_and_keeps_the_shell(guest: Guest) -> None:
    result = guest.bash("A=kept; sleep 87652 & sleep 87653; echo not reached", session="slow", timeout=0.5)
    assert (result.timed_out, result.restarted, result.exit_code) == (True, False, 130)
    assert b"not reached" not in result.output
    assert not running("87653")
    assert running("87652")
    assert guest.bash("echo $A; kill %1", session="slow").output.startswith(b"kept\n")


def test_it_interrupts_a_loop_of_the_shell_itself(guest: Guest) -> None:
    assert guest.bash("while :; do :; done", session="loop", timeout=0.5).timed_out
    assert guest.bash("echo fine", session="loop").output.endswith(b"fine\n")


def test_it_restarts_a_shell_that_does_not_let_go(guest: Guest) -> None:
    stubborn = "A=1; sh -c 'trap \"\" INT; setsid sleep 87654 & sleep 87655; :'; :"
    result = guest.bash(stubborn, session="stubborn", timeout=2)
    assert (result.timed_out, result.restarted) == (True, True)
    assert not running("87654")
    assert not running("87655")
    assert guest.bash("echo -$A-", session="stubborn").output == b"--\n"


def test_it_says_when_the_shell_has_ended(guest: Guest) -> None:
    result = guest.bash("A=1; exit 7", session="ends")
    assert (result.exit_code, result.restarted) == (7, True)
    assert guest.bash("echo -$A-", session="ends").output == b"--\n"


def test_it_ends_everything_on_restart(guest: Guest) -> None:
    guest.bash("(setsid sleep 87656 &)", session="again")
    eventually(lambda: running("87656"))
    assert guest.restart_bash("again").restarted
    assert not running("87656")
    assert guest.bash("echo new", session="again").output == b"new\n"


def test_it_shows_later_what_jobs_write_between_commands(guest: Guest) -> None:
    guest.bash("(until test -e go; do sleep 0.01; done; echo from the job; touch gone) &", session="between")
    guest.exec(["touch", "go"])
    eventually(lambda: guest.exec(["test", "-e", "gone"]).returncode == 0)
    assert b"from the job\n" in guest.bash(":", session="between").output


def test_it_cuts_output_and_says_so(guest: Guest) -> None:
    result = guest.bash("head -c 5000000 /dev/zero", output_limit=1000)
    assert (result.output, result.truncated) == (b"\0" * 1000, True)
    assert not guest.bash("echo short").truncated


def test_it_runs_one_command_at_a_time_in_a_session(guest: Guest, daemon: Daemon) -> None:
    def add() -> None:
        with daemon.guest() as other:
            other.bash("N=$((N+1)); sleep 0.05; M=$((M+1)); test $N = $M || WRONG=1", session="queue")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert guest.bash("echo $N$WRONG", session="queue").output == b"4\n"


def test_it_refuses_more_shells_than_it_can_keep(own_daemon: Daemon) -> None:
    with own_daemon.guest() as guest:
        for number in range(16):
            guest.bash(":", session=str(number))
        with pytest.raises(Refused, match="16 shells"):
            guest.bash(":", session="one more")
        guest.restart_bash("3")
        assert guest.bash("echo room", session="one more").output == b"room\n"
