import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sandboxes import database, lifecycle

from .inmachine import running_machine


class Command(BaseCommand):
    help = "Prints, as JSON, the host's command that opens a root shell in a machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("machine", nargs="?", default="")

    def handle(self, *_arguments: str, **options: Any) -> None:
        if database.is_missing():
            raise CommandError("There are no machines here: GodHand has not served with this GODHAND_HOME yet.")
        self.stdout.write(json.dumps(lifecycle.attach(running_machine(options["machine"])).root_shell()))
