"""`./godhand logs [SERVICE] [-f]`: what the services have said."""

import argparse
import os
import sys

from sandboxes.host import here

from .place import refuse_closed


def main(arguments: list[str]) -> int:
    refuse_closed(here().logs, "logs")
    known = sorted(path.stem for path in here().logs.glob("*.log"))
    parser = argparse.ArgumentParser(prog="./godhand logs", description="What the services have said.")
    parser.add_argument("service", nargs="*", help=f"one or more of: {', '.join(known) or 'none has run yet'}")
    parser.add_argument("-f", "--follow", action="store_true", help="keep showing new lines")
    parser.add_argument("-n", "--lines", type=int, default=40, help="how many lines of each (default 40)")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.service) - set(known)
    if unknown or not known:
        sys.exit(
            f"There is no log of {', '.join(unknown) or 'any service yet'}; there are: {', '.join(known) or 'none'}."
        )
    files = [str(here().logs / f"{name}.log") for name in chosen.service or known]
    os.execvp("tail", ["tail", "-n", str(chosen.lines), *(["-F"] if chosen.follow else []), *files])
