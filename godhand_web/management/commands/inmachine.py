import os
import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.models import Machine, State


class Command(BaseCommand):
    help = "Runs a program as root in a machine; its output and exit code become ours."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("machine")
        parser.add_argument("argv", nargs=REMAINDER)

    def handle(self, *_arguments: str, **options: Any) -> None:
        stdin = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
        try:
            sandbox = lifecycle.attach(running_machine(options["machine"]))
            result = sandbox.exec(options["argv"], stdin=stdin, user="root", timeout=24 * 3600)
        except SandboxError as error:
            raise CommandError(str(error)) from None
        os.write(1, result.stdout)
        os.write(2, result.stderr)
        sys.exit(result.returncode)


def running_machine(wanted: str) -> Machine:
    """By id or name; the only one there is when nothing is wanted."""
    running = Machine.objects.filter(state=State.READY)
    found = list(running.filter(Q(pk=wanted) | Q(name=wanted)) if wanted else running)
    if len(found) != 1:
        names = ", ".join(f"{machine.name} ({machine.pk})" for machine in running) or "none"
        trouble = f"No running machine is called “{wanted}”" if wanted and not found else "Name one machine"
        raise CommandError(f"{trouble}. Running: {names}.")
    return found[0]
