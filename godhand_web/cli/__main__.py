"""The command line. Each command is one module of this package with a `main`, imported when it is called."""

import argparse
import os
import sys
from importlib import import_module

from sandboxes.host import here

COMMANDS = {
    "demo": "start everything, show a machine at work, and print the page's address",
    "up": "start the services and serve until Ctrl-C",
    "down": "stop the services and all machines",
    "status": "what runs, where, and a fresh login link",
    "doctor": "one line per need, with the fix",
    "image": "build, list or show machine images",
    "shell": "a root shell in a machine",
    "logs": "what a service has said",
    "bench": "measure, against a peer, in one run",
    "test": "install all it needs and run every check",
    "manage": "Django's own commands",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./godhand",
        description="Every agent gets its own computer; people get a browser window onto it.",
        epilog="Settings are GODHAND_* variables: see docs/settings.md.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    if len(sys.argv) == 1:
        parser.print_help()
        return 0
    chosen, rest = parser.parse_known_args(sys.argv[1:2])[0], sys.argv[2:]
    module = import_module(f"godhand_web.cli.{chosen.command}")
    code: int = module.main(rest)
    return code


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
    # The default depends on who asks, and the services run as somebody else.
    os.environ["GODHAND_HOME"] = str(here().home)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
