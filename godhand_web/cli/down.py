"""`./godhand down`: ends a running `up`, and what a killed one left behind."""

import argparse
import os
import signal
import sys

from . import record
from .place import manage, prepare
from .processes import is_same, wait_until
from .supervisor import end_leftovers
from .system import say
from .up import take_lock


def main(arguments: list[str]) -> int:
    argparse.ArgumentParser(prog="./godhand down", description="Stop the services and all machines.").parse_args(
        arguments
    )
    state = record.read()
    if state is None:
        say("GodHand does not run")
        return 0
    pid, started = state["pid"], state["started"]
    if is_same(pid, started):
        say(f"stopping GodHand (process {pid})")
        os.kill(pid, signal.SIGTERM)
        if not wait_until(lambda: not is_same(pid, started), 90):
            say("it has not ended after 90 s; ./godhand logs tells more")
            return 1
        return 0
    prepare()
    lock = take_lock()
    if lock is None:
        sys.exit("GodHand is just being started or ended by another command: run ./godhand down again.")
    for name in end_leftovers():
        say(f"ended “{name}”, left behind by an earlier run")
    if record.is_starting(state):
        # It may have been killed before there was a database to look for machines in.
        manage("migrate", "--verbosity", "0")
    manage("stopmachines", service=False)
    lock.close()
    return 0
