"""A shell that lives on between commands."""

import os
import pwd
import select
import signal
import time

from .files import write_all
from .people import act_as, become_root, environment
from .processes import Capture, kill, kill_descendants, reap, spawn
from .protocol import Header

INTERRUPT_SECONDS = 2.0


class Shell:
    """A bash that reads commands from a file of ours and reports each end on a pipe that no command inherits.

    It is interactive, without a terminal, because only an interactive shell drops the whole command line when
    it is interrupted and goes on with its state; what it starts with `&` does not hear the interrupt.
    """

    ARGV = ["bash", "--noprofile", "--norc", "--noediting", "-i"]
    SETUP = b"PS1= PS2= HISTFILE=; set +H +o history; "
    RUN = b"IFS= read -r -d '' __command </proc/self/fd/197; eval \"$__command\" </dev/null 197>&- 198>&-; "

    def __init__(self, wake: int, person: pwd.struct_passwd) -> None:
        self.wake, self.person = wake, person
        self.output, self.script = Capture(1 << 20), os.memfd_create("command")
        self.pid = self.serial = self.commands = self.reports = 0

    def start(self) -> None:
        commands, self.commands = os.pipe()
        self.reports, reports = os.pipe()
        act_as(self.person)
        out = self.output.inlet
        try:
            descriptors = {0: commands, 1: out, 2: out, 197: self.script, 198: reports}
            self.pid = spawn(self.ARGV, environment(self.person, {}), descriptors)
        finally:
            become_root()
            os.close(commands)
            os.close(reports)
        self.ask(self.SETUP, 10)
        self.output.take()

    def ask(self, line: bytes, timeout: float) -> int | None:
        """The exit status after that line, or None when time is up. `pid` is 0 afterwards if the shell ended."""
        self.serial += 1
        mark, seen, deadline = b"%d " % self.serial, b"\n", time.monotonic() + timeout
        os.write(self.commands, line + b"printf '%s%%d\\n' $? >&198\n" % mark)
        poller = select.poll()
        for descriptor in (self.reports, self.wake, self.output.pipe):
            poller.register(descriptor, select.POLLIN)
        code = None
        while code is None and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poller.poll(left * 1000 + 1):
                if descriptor == self.output.pipe:
                    self.output.pump()
                elif descriptor == self.wake:
                    os.read(self.wake, 4096)
                    ended = self.notice_end()
                    code = ended if code is None else code
                elif report := os.read(self.reports, 100):
                    seen = seen[-100:] + report
                    code = self.code_in(seen, mark)
                else:
                    poller.unregister(descriptor)
        for _ in range(64):
            if self.output.pump() <= 0:
                break
        return code

    def code_in(self, seen: bytes, mark: bytes) -> int | None:
        _, found, report = seen.rpartition(b"\n" + mark)
        return int(report) if found and report.endswith(b"\n") and report[:-1].isdigit() else None

    def notice_end(self) -> int | None:
        code, _ = reap(self.pid)
        if self.pid and code is not None:
            os.close(self.commands)
            os.close(self.reports)
            self.pid = 0
        return code

    def run(self, command: bytes, timeout: float) -> Header:
        self.notice_end()
        if not self.pid:
            self.start()
        os.ftruncate(self.script, 0)
        write_all(self.script, command + b"\0", at=0)
        code = self.ask(self.RUN, timeout)
        if timed_out := code is None:
            code = 130
            kill(-self.pid, signal.SIGINT)
            if self.ask(b"", INTERRUPT_SECONDS) is None:
                code = 137
                kill(-self.pid, signal.SIGKILL)
                while self.notice_end() is None and self.pid:
                    time.sleep(0.002)
                kill_descendants()
        return {"exit_code": code, "timed_out": timed_out, "restarted": not self.pid}

    def idle(self, until: int) -> None:
        """Background jobs go on writing between commands; their output belongs to the next answer."""
        poller = select.poll()
        for descriptor in (until, self.wake, self.output.pipe):
            poller.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poller.poll():
                if descriptor == until:
                    return
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                    self.notice_end()
                else:
                    self.output.pump()
