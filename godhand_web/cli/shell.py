"""`./godhand shell MACHINE`: a root shell in a machine, by id or name."""

import argparse
import json
import os
import sys

from .place import is_root, manage


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand shell", description="A root shell in a machine.")
    parser.add_argument("machine", nargs="?", help="its id or name; may be left out when only one runs")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="a command to run instead of a shell")
    chosen = parser.parse_args(arguments)
    if not is_root():
        sys.exit("A root shell in a machine needs root on its host: run ./godhand shell as root.")
    argv = json.loads(manage("shellcommand", *([chosen.machine] if chosen.machine else []), service=False))
    os.execv(argv[0], [*argv, *(chosen.command or ["/bin/bash", "-l"])])
