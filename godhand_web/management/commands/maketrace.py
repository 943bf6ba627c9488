from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.generate import generate

from .loginlink import owner


class Command(BaseCommand):
    help = "Makes up a big trace that looks real, to try pages out and to measure them; prints its id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--steps", type=int, default=2000)
        parser.add_argument("--branches", type=int, default=1)
        parser.add_argument("--frames", type=int, default=120, help="different screens")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--like", default="", help="a trace whose actions and screens are to be used")

    def handle(self, *_arguments: str, **options: Any) -> None:
        wanted = {name: options[name] for name in ("steps", "branches", "frames", "seed", "like")}
        try:
            self.stdout.write(generate(owner(), **wanted).pk)
        except ValueError as error:
            raise CommandError(str(error)) from None
