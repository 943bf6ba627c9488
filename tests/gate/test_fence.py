"""Who holds the fence at the instant of sending, whatever becomes of the process that sends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.errors import Taken
from sandboxes.fence import Fence, Holding

STOPS_WHILE_IT_SENDS = """
import os, signal, sys
from pathlib import Path
from sandboxes.fence import Fence
with Fence(Path(sys.argv[1])).passing("agent"):
    os.kill(os.getpid(), signal.SIGSTOP)
    print("sent", flush=True)
"""


@pytest.fixture
def stale(fence: Fence) -> "Iterator[subprocess.Popen[bytes]]":
    argv = [sys.executable, "-c", STOPS_WHILE_IT_SENDS, str(fence.path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        os.waitpid(process.pid, os.WUNTRACED)
        yield process
        process.kill()


@pytest.fixture
def fence(tmp_path: Path) -> Fence:
    fence = Fence(tmp_path / "fence")
    fence.put(lambda: Holding("agent", 1))
    return fence


def test_it_ends_a_process_that_was_stopped_in_the_act_of_sending(
    fence: Fence, stale: "subprocess.Popen[bytes]"
) -> None:
    fence.put(lambda: Holding("person", 2))
    stale.send_signal(signal.SIGCONT)
    assert stale.communicate(timeout=60)[0] == b""
    assert stale.returncode == -signal.SIGKILL
    with pytest.raises(Taken), fence.passing("agent"):
        pass
    with fence.passing("person"):
        pass


def test_it_lets_nobody_through_whose_epoch_is_over(fence: Fence) -> None:
    fence.put(lambda: Holding("agent", 2))
    with pytest.raises(Taken), fence.passing("agent", 1):
        pass
    with fence.passing("agent", 2):
        pass
