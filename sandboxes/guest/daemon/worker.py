"""The process that does what is asked, as one of the machine's users."""

import os
import select
import signal
import time
from collections.abc import Callable
from typing import NoReturn

from . import files
from .people import act_as, become_root, environment, person_of
from .processes import Capture, kill_descendants, reap, spawn
from .protocol import (
    Channel,
    Header,
    Refusal,
    is_text,
    refusal_of,
    want,
    want_between,
    want_env,
    want_timeout,
    want_words,
)  # fmt: skip
from .shell import Shell

OUTPUT_LIMIT = 64 << 20
GRACE = 0.2
FILE_JOBS: dict[str, Callable[[Channel, Header], None]] = {
    "read": files.read,
    "write": files.write,
    "stat": files.describe,
    "list": files.enlist,
}


class Worker:
    """One job after the other, each as the user it asks for. A worker that hosts a shell stays with it."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.shell: Shell | None = None
        self.wake, wakes = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def work(self) -> NoReturn:
        while True:
            if self.shell:
                self.shell.idle(self.channel.sock.fileno())
            job = self.channel.header()
            try:
                self.do(job)
            except Refusal as refusal:
                self.channel.send(refusal.header)
            except OSError as error:
                self.channel.send(refusal_of(error).header)
            except ValueError as error:
                self.channel.send(Refusal("bad_request", str(error)).header)
            finally:
                become_root()
                self.channel.drop_descriptors()

    def do(self, job: Header) -> None:
        if job["op"] == "exec":
            self.exec(job)
        elif job["op"] == "bash":
            self.bash(job)
        elif job["op"] in ("pack", "unpack"):
            from . import trees  # tarfile is slow to load, and few machines ever need it

            (trees.send if job["op"] == "pack" else trees.receive)(self.channel, job)
        else:
            FILE_JOBS[job["op"]](self.channel, job)

    def exec(self, job: Header) -> None:
        argv, timeout, person = want_words(job, "argv"), want_timeout(job, 30.0), person_of(job)
        env, limit = environment(person, want_env(job)), want_between(job, "output_limit", 10 << 20, OUTPUT_LIMIT)
        act_as(person)
        os.chdir(want(job, "cwd", str, "."))
        if not self.channel.descriptors:
            self.channel.descriptors.append(os.open("/dev/null", os.O_RDONLY))
        out, err = Capture(limit), Capture(limit)
        pid, code = 0, None
        try:
            pid = spawn(argv, env, {0: self.channel.descriptors[0], 1: out.inlet, 2: err.inlet})
        except OSError as error:
            code = 127 if isinstance(error, FileNotFoundError) else 126
            err.data += os.fsencode(f"{argv[0][:200]}: {error.strerror}\n")
        finally:
            become_root()
            os.close(out.inlet)
            os.close(err.inlet)
        if pid and (code := self.follow(pid, [out, err], timeout)) is None:
            kill_descendants()
        os.close(out.pipe)
        os.close(err.pipe)
        answer: Header = {"ok": True, "returncode": 137 if code is None else code, "timed_out": code is None}
        answer |= {"truncated": [out.truncated, err.truncated], "spent": reap(0)[1]}
        self.channel.send(answer, bytes(out.data), bytes(err.data))

    def follow(self, pid: int, captures: list[Capture], timeout: float) -> int | None:
        """The program's code, or None when time is up. Whoever inherited its pipes is not waited for."""
        poller, pipes = select.poll(), {capture.pipe: capture for capture in captures}
        for descriptor in (self.wake, *pipes):
            poller.register(descriptor, select.POLLIN)
        code, deadline = None, time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0 and (code is None or pipes):
            for descriptor, _ in poller.poll(left * 1000 + 1):
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                elif not pipes[descriptor].pump():
                    poller.unregister(descriptor)
                    del pipes[descriptor]
            if code is None and (code := reap(pid)[0]) is not None:
                deadline = time.monotonic() + GRACE
        return code

    def bash(self, job: Header) -> None:
        command, timeout, person = want(job, "command", str), want_timeout(job, 120.0), person_of(job)
        if not is_text(command):
            raise Refusal("bad_request", "A command has no NUL in it.")
        self.shell = self.shell or Shell(self.wake, person)
        self.shell.output.limit = want_between(job, "output_limit", 1 << 20, OUTPUT_LIMIT)
        answer = self.shell.run(os.fsencode(command), timeout)
        output, truncated = self.shell.output.take()
        self.channel.send({"ok": True, "truncated": truncated} | answer, output)
