"""`./godhand up`: one process that starts everything, watches it, and takes everything down with it."""

import argparse
import fcntl
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import IO

from django.conf import settings

from sandboxes.host import here

from . import preflight, record
from .place import manage, prepare
from .processes import is_same
from .supervisor import GaveUp, Supervisor, end_leftovers
from .system import say

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
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    supervisor = Supervisor()
    try:
        _start(supervisor)
        code = after_start(supervisor.tend)
        while code is None:
            supervisor.tend()
            time.sleep(0.25)
        return code
    except GaveUp as error:
        print(f"\nGodHand stops: {error}", file=sys.stderr)
        return 1
    except Stop:
        print()
        return 0
    finally:
        _shut_down(supervisor)


def _beside(after_start: AfterStart) -> int:
    """Somebody else holds the lock, and in the first instant has not written anything down."""
    state = record.read()
    if state and not is_same(state["pid"], state["started"]):
        state = None
    if state and not record.is_starting(state):
        say("GodHand runs already; ./godhand down stops it")
        return after_start(lambda: None) or 0
    doing = f" ({state['doing']})" if state else ""
    sys.exit(f"GodHand is still starting{doing}: wait until it is up, or end it with ./godhand down.")


def take_lock() -> IO[str] | None:
    """Held until this process ends, however it ends."""
    lock = (here().run / "up.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return lock


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Stop


def _start(supervisor: Supervisor) -> None:
    from . import services

    for name in end_leftovers():
        say(f"ended “{name}”, left behind by an earlier run")
    preflight.refuse()
    supervisor.write_down()
    preflight.mend(supervisor.tell)
    began = time.monotonic()
    if settings.REDIS_IS_OURS:
        supervisor.tell("starting Redis")
        supervisor.start(services.private_redis())
    elif not services.redis_answers():
        raise GaveUp("the Redis that GODHAND_REDIS_URL names does not answer: start it, or unset the variable.")
    supervisor.tell("preparing the database")
    manage("migrate", "--verbosity", "0")
    manage("sweep", service=False)
    supervisor.tell("starting workers, gate and web")
    supervisor.start(*services.services())
    say(f"all services are up ({time.monotonic() - began:.1f} s)")


def _shut_down(supervisor: Supervisor) -> None:
    """Ignores further signals: half a shutdown is what leaves things behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    made_machines = "machines" in supervisor.running
    if supervisor.running:
        say("stopping")
    supervisor.stop("web", "gate", "beat", "agents", "machines", "resolver")
    if made_machines:
        manage("stopmachines", service=False)
    supervisor.stop()
    record.forget()


def print_address(_tend: Tend) -> None:
    print(f"\n  GodHand is at  {login_link()}\n  The link works once. Ctrl-C stops everything.\n", flush=True)


def login_link(next_page: str = "") -> str:
    return manage("loginlink", *([next_page] if next_page else [])).strip()
