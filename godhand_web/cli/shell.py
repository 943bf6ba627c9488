"""`./godhand shell [MACHINE] [COMMAND …]`: a root shell in a machine, or one command as root."""

import argparse
import json
import os
import sys

from .place import ROOT, as_service, is_root, manage, python


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand shell", description="A root shell in a machine.")
    parser.add_argument("machine", nargs="?", default="", help="its id or name; not needed when only one runs")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="a command to run instead of a shell")
    chosen = parser.parse_args(arguments)
    if not is_root():
        sys.exit("A root shell in a machine needs root on its host: run ./godhand shell as root.")
    if chosen.command:
        argv = as_service(python("manage.py", "inmachine", chosen.machine, *chosen.command))
    else:
        argv = json.loads(manage("shellcommand", *filter(None, [chosen.machine]), service=False))
    os.chdir(ROOT)
    os.execvp(argv[0], argv)
