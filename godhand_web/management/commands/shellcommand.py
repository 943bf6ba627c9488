import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from sandboxes import lifecycle

from .inmachine import running_machine


class Command(BaseCommand):
    help = "Prints, as JSON, the host's command that opens a root shell in a machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("machine", nargs="?", default="")

    def handle(self, *_arguments: str, **options: Any) -> None:
        self.stdout.write(json.dumps(lifecycle.attach(running_machine(options["machine"])).root_shell()))
