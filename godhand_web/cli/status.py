"""`./godhand status`: what runs, since when, and a fresh login link."""

import argparse
import os
import time
from pathlib import Path

from sandboxes.host import here

from . import record
from .place import manage, refuse_closed
from .processes import is_same, start_time
from .up import login_link


def main(arguments: list[str]) -> int:
    """Exit code 3 when it does not serve, as init scripts do."""
    argparse.ArgumentParser(prog="./godhand status", description="What runs, and a login link.").parse_args(arguments)
    refuse_closed(here().own, "status")
    state = record.read()
    if state is None or not is_same(state["pid"], state["started"]):
        print("GodHand does not run. ./godhand up starts it.")
        return 3
    os.environ["GODHAND_URL"] = state["url"]
    if record.is_ending(state):
        print("GodHand is just ending.")
        return 3
    if not record.serves(state):
        print(f"GodHand is still starting ({age(state['pid'])}): {state['doing']}")
        return 3
    for name, (pid, started) in state["services"].items():
        if is_same(pid, started):
            print(f"  ● {name:10} process {pid}, {age(pid)}")
        else:
            print(f"  ✗ {name:10} dead, will be restarted")
    print(manage("machinecount").rstrip())
    print(f"\n  {login_link()}\n  The link works once.")
    return 0


def age(pid: int) -> str:
    started = start_time(pid) or 0
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    seconds = int(uptime - started / os.sysconf("SC_CLK_TCK"))
    return time.strftime("%H:%M:%S", time.gmtime(max(seconds, 0)))
