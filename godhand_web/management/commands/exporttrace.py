import shutil
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.errors import TraceError
from traces.export.base import Silent
from traces.export.registry import exporter, kinds
from traces.material import StoredMaterial
from traces.models import Trace
from traces.sizes import Part, scope_of


class Command(BaseCommand):
    help = "Writes a trace to a file that the services' user may write, or to the standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("trace")
        parser.add_argument("kind", choices=list(kinds()))
        parser.add_argument("out", help="a path, or - for the standard output")
        parser.add_argument("--branch", default="")
        parser.add_argument("--first", type=int, help="the number of a step on the branch")
        parser.add_argument("--last", type=int)

    def handle(self, *_arguments: str, **options: Any) -> None:
        trace = Trace.objects.filter(pk=options["trace"]).first()
        if trace is None:
            raise CommandError(f"There is no trace {options['trace']}.")
        try:
            scope = scope_of(trace, Part(options["branch"], options["first"], options["last"]))
            with tempfile.TemporaryDirectory() as place:
                made = Path(place) / "export"
                exporter(options["kind"])().write(StoredMaterial(trace, scope), made, Silent())
                deliver(made, options["out"])
        except (TraceError, OSError) as error:
            raise CommandError(str(error)) from None


def deliver(made: Path, out: str) -> None:
    if out != "-":
        shutil.copyfile(made, out)
        if (captions := made.with_suffix(".vtt")).exists():
            shutil.copyfile(captions, Path(out).with_suffix(".vtt"))
        return
    with made.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()
