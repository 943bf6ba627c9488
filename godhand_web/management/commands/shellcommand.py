import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from sandboxes import lifecycle
from sandboxes.models import Machine, State


class Command(BaseCommand):
    help = "Prints, as JSON, the command that runs something as root in a machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("machine", nargs="?", default="")

    def handle(self, *_arguments: str, **options: Any) -> None:
        running = Machine.objects.filter(state=State.READY)
        wanted = options["machine"]
        found = list(running.filter(Q(pk=wanted) | Q(name=wanted)) if wanted else running)
        if len(found) != 1:
            names = ", ".join(f"{machine.name} ({machine.pk})" for machine in running) or "none"
            raise CommandError(f"Name one machine. Running: {names}.")
        self.stdout.write(json.dumps(lifecycle.attach(found[0]).root_shell()))
