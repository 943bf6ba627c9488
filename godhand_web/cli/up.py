"""`./godhand up`: one process that starts everything, watches it, and takes everything down with it."""

import argparse
import fcntl
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO

from django.conf import settings

from sandboxes.host import here
from sandboxes.network import remove_firewall
from sandboxes.registry import kinds

from . import preflight, record
from .mistyped import mistyped
from .place import manage, prepare
from .processes import is_same, start_time
from .supervisor import GaveUp, Supervisor, end_leftovers
from .system import announce, say

Tend = Callable[[], None]
AfterStart = Callable[[Tend], int | None]
"""Whoever takes long calls `tend` meanwhile, several times a second: it looks after the services."""


class Stop(BaseException):
    """A signal asked us to end."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand up", description="Start the services and serve until Ctrl-C.")
    parser.parse_args(arguments)
    return run(after_start=print_address)


def run(after_start: AfterStart) -> int:
    """Serve until a signal, or until `after_start` returns an exit code."""
    prepare()
    lock = take_lock()
    if lock is None:
        return _beside(after_start)
    for name in end_leftovers():
        say(f"ended “{name}”, left behind by an earlier run")
    for line in mistyped():
        say(line)
    preflight.refuse()
    _on_signals(_stop)
    supervisor, keep = Supervisor(), any_machine()
    try:
        _start(supervisor)
        keep = False
        code = after_start(supervisor.tend)
        if code is None:
            announce("  Ctrl-C stops everything.\n")
        while code is None:
            supervisor.tend()
            time.sleep(0.25)
        return code
    except GaveUp as error:
        announce(f"\nGodHand stops: {error}", sys.stderr)
        return 1
    except Stop:
        keep = False
        announce("")
        return 0
    finally:
        _shut_down(supervisor, keep=keep)


def _beside(after_start: AfterStart) -> int:
    """Somebody else holds the lock, and in the first instant has not written anything down."""
    state = record.read()
    if state and not is_same(state["pid"], state["started"]):
        state = None
    if state and record.serves(state):
        say("GodHand runs already; ./godhand down stops it")
        # Its address, and not the one that this command's settings would give it.
        os.environ["GODHAND_URL"] = state["url"]
        return after_start(lambda: None) or 0
    if state and record.is_ending(state):
        sys.exit("GodHand is just ending: run this again in a moment.")
    doing = f" ({state['doing']})" if state else ""
    sys.exit(f"GodHand is still starting{doing}: wait until it is up, or end it with ./godhand down.")


def take_lock(*, to_serve: bool = True) -> IO[bytes] | None:
    """Held until this process ends, however it ends. It names who serves, or is about to, unless the disk is full."""
    lock = _lock_file().open("ab", buffering=0)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    lock.truncate(0)
    if to_serve:
        own = os.getpid()
        with suppress(OSError):
            lock.write(f"{own} {start_time(own)}".encode())
    return lock


def holder() -> tuple[int, int] | None:
    """The process that has the lock, and when it started; None when there is none."""
    try:
        pid, started = map(int, _lock_file().read_text().split())
    except (OSError, ValueError):
        return None
    return (pid, started) if is_same(pid, started) else None


def _lock_file() -> Path:
    return here().own / "up.lock"


def _on_signals(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """But for a hang-up from which `nohup` protects us."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Once: half a shutdown is what leaves things behind."""
    _on_signals(signal.SIG_IGN)
    raise Stop


def _start(supervisor: Supervisor) -> None:
    from . import services

    supervisor.write_down()
    preflight.mend(supervisor.tell)
    began = time.monotonic()
    if settings.REDIS_IS_OURS:
        supervisor.tell("starting Redis")
        supervisor.start(services.private_redis())
    elif not services.redis_answers():
        raise GaveUp("the Redis that GODHAND_REDIS_URL names does not answer: start it, or unset the variable.")
    supervisor.tell("preparing the database")
    _prepare_database()
    manage("sweep", service=False)
    supervisor.tell("starting workers, gate and web")
    supervisor.start(*services.services())
    say(f"all services are up ({time.monotonic() - began:.1f} s)")


def _prepare_database() -> None:
    try:
        manage("migrate", "--verbosity", "0")
    except SystemExit as failure:
        found = re.search(r"^django\.db\.utils\.\w+: (.+)", str(failure), re.MULTILINE)
        if found is None:
            raise
        if settings.DATABASE_URL:
            fix = "start what DATABASE_URL names, or correct it"
        else:
            fix = f"mend {settings.SQLITE_FILE}, put a copy of yours in its place, or move it away to begin with none"
        raise GaveUp(f"the database cannot be used ({found[1]}): {fix}.") from None


def _shut_down(supervisor: Supervisor, *, keep: bool) -> None:
    """Whoever could not even start leaves the machines that an earlier run has left, for the next one to adopt."""
    _on_signals(signal.SIG_IGN)
    served = "machines" in supervisor.running
    if supervisor.running:
        supervisor.tell(record.ENDING)
    supervisor.stop("web", "gate", "beat", "agents", "machines", "resolver")
    try:
        if keep:
            say("the machines of an earlier run go on; ./godhand down removes them")
        elif served or any_machine():
            clear_host()
        else:
            remove_firewall(here())
    finally:
        supervisor.stop()
    record.forget()


def any_machine() -> bool:
    """Of an earlier run that was killed, or one in which a template was being made."""
    return any(True for kind in kinds().values() for _ in kind.owned())


def clear_host() -> None:
    """Also without a database, and with one that does not answer."""
    if trouble := manage("stopmachines", service=False).strip():
        say(trouble)


def print_address(_tend: Tend) -> None:
    announce(f"\n  GodHand is at  {login_link()}\n  The link works once.")


def login_link(next_page: str = "") -> str:
    return manage("loginlink", *([next_page] if next_page else [])).strip()
