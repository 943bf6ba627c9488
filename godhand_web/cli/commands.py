"""The commands by name. Standard library only: what is mistyped is refused before anything is installed for it."""

import argparse
import sys

COMMANDS = {
    "demo": "start everything, show a machine at work, and print the page's address",
    "up": "start the services and serve until Ctrl-C",
    "down": "stop the services and all machines",
    "status": "what runs, where, and a fresh login link",
    "doctor": "one line per need, with the fix",
    "image": "build, list or show machine images",
    "shell": "a root shell in a machine",
    "logs": "what a service has said",
    "bench": "measure, against a peer in the same run where there is one",
    "test": "install all it needs and run every check",
    "manage": "Django's own commands",
}


def chosen(arguments: list[str]) -> str:
    """The first word. Without one, or with one that is no command, the program ends here and says so."""
    parser = argparse.ArgumentParser(
        prog="./godhand",
        description="Every agent gets its own computer; people get a browser window onto it.",
        epilog="Settings are GODHAND_* variables: see docs/settings.md.",
    )
    names = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        names.add_parser(name, help=text, add_help=False)
    if not arguments:
        parser.print_help()
        sys.exit(0)
    command: str = parser.parse_known_args(arguments[:1])[0].command
    return command
