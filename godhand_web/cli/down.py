"""`./godhand down`: ends a running `up`, and what a killed one left behind."""

import argparse
import os
import signal
import sys

from sandboxes.host import here

from . import record
from .place import prepare, refuse_closed
from .processes import is_same, wait_until
from .supervisor import end_leftovers
from .system import say
from .up import any_machine, clear_host, holder, take_lock


def main(arguments: list[str]) -> int:
    argparse.ArgumentParser(prog="./godhand down", description="Stop the services and all machines.").parse_args(
        arguments
    )
    refuse_closed(here().own, "down")
    state = record.read()
    pid, started = (state["pid"], state["started"]) if state else holder() or (0, 0)
    if is_same(pid, started):
        say(f"stopping GodHand (process {pid})")
        os.kill(pid, signal.SIGTERM)
        if not wait_until(lambda: not is_same(pid, started), 90):
            say("it has not ended after 90 s; ./godhand logs tells more")
            return 1
        return 0
    if state is None and not any_machine():
        say("GodHand does not run")
        return 0
    prepare()
    lock = take_lock(to_serve=False)
    if lock is None:
        sys.exit("GodHand is just being started or ended by another command: run ./godhand down again.")
    for name in end_leftovers():
        say(f"ended “{name}”, left behind by an earlier run")
    clear_host()
    record.forget()
    lock.close()
    return 0
