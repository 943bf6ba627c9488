from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents import reading
from sandboxes.errors import Unavailable


class Command(BaseCommand):
    help = "Reads the text on the screens of a trace for a while, the newest first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("trace")
        parser.add_argument("--seconds", type=float, default=reading.SECONDS)

    def handle(self, *_arguments: str, **options: Any) -> None:
        try:
            left = reading.read(options["trace"], options["seconds"])
        except Unavailable as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{left} screens are left.")
