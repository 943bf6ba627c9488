import shutil
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from godhand_web.management.commands.loginlink import owner
from traces.errors import TraceError
from traces.export.base import Silent
from traces.importing import take_in


class Command(BaseCommand):
    help = "Takes in a bundle for the installation's owner, prints the id of the trace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="a path, or - for the standard input")

    def handle(self, *_arguments: str, **options: Any) -> None:
        with tempfile.TemporaryDirectory() as place:
            path = Path(options["file"])
            if options["file"] == "-":
                path = Path(place) / "given"
                with path.open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
            try:
                self.stdout.write(take_in(path, owner(), Silent()).pk)
            except TraceError as error:
                raise CommandError(str(error)) from None
