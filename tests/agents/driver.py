"""A worker in a process of its own that drives one branch of the test's database, and dies where it is told to.

The processes are forked from one that has started Django and touched nothing else: they begin at once.
"""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from typing import Any, NoReturn

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.agents.driving"])


class Driver:
    """MOMENT is where it dies: “before the files”, “after the reply”, “before the act”, “before the branches”, “after
    the act”, “after the answer”, or nowhere. “asleep before the act” is where it stops until it is sent SIGCONT.
    """

    def __init__(self, database: str, branch_id: str, moment: str = "") -> None:
        self._begun, begun = SERVER.Pipe(duplex=False)
        self._process = SERVER.Process(target=drive, args=(database, branch_id, moment, begun))
        self._process.start()
        begun.close()

    def wait_until_it_drives(self) -> None:
        assert self._begun.poll(60)

    def wait(self, timeout: float | None = None) -> int:
        """How it ended: by a signal if negative."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, "it goes on"
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process.pid
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self.wait(10)
        self._process.close()
        self._begun.close()


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def drive(database: str, branch_id: str, moment: str, begun: Connection) -> None:
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    from agents import branching, runner
    from traces.recorder import DatabaseRecorder

    class Mortal(DatabaseRecorder):
        def event(self, *given: Any, **more: Any) -> Any:
            stored = super().event(*given, **more)
            return die() if moment == "before the files" else stored

        def reply(self, *given: Any, **more: Any) -> Any:
            stored = super().reply(*given, **more)
            return die() if moment == "after the reply" else stored

        def intent(self, *given: Any, **more: Any) -> None:
            super().intent(*given, **more)
            if moment == "before the act":
                die()
            if moment == "asleep before the act":
                os.kill(os.getpid(), signal.SIGSTOP)

        def done(self, *given: Any, **more: Any) -> None:
            if moment == "after the act":
                die()
            super().done(*given, **more)
            if moment == "after the answer":
                die()

    vars(runner)["DatabaseRecorder"] = Mortal
    if moment == "before the branches":
        vars(branching)["open_branches"] = lambda *_, **__: die()
    begun.close()
    runner.drive(branch_id)
