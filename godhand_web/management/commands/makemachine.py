import time
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from godhand_web.forms import NewMachine
from godhand_web.management.commands.loginlink import owner
from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.models import State


class Command(BaseCommand):
    help = "Makes a machine for the installation's owner, waits until it is ready, prints its id."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--image", default="desktop")
        parser.add_argument("--name", default="")

    def handle(self, *_arguments: str, **options: Any) -> None:
        try:
            name = NewMachine.base_fields["name"].clean(options["name"])
            machine = lifecycle.request_machine(owner(), image=options["image"], name=name)
        except ValidationError as error:
            raise CommandError(error.messages[0]) from None
        except SandboxError as error:
            raise CommandError(str(error)) from None
        while machine.pending:
            time.sleep(0.1)
            machine.refresh_from_db()
        if machine.state != State.READY:
            raise CommandError(machine.detail)
        self.stdout.write(machine.pk)
