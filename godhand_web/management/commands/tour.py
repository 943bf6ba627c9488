import sys
import time
from typing import Any

from django.core.management.base import BaseCommand
from django.urls import reverse

from agents import tasks, tours
from godhand_web.management.commands.loginlink import owner
from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.models import Event, Machine, State

PATIENCE = 120


class Command(BaseCommand):
    help = "Makes a machine, has an agent worker press a button in it, prints its page. Exit code 1 when that failed."

    def handle(self, *_arguments: str, **_options: Any) -> None:
        try:
            machine = lifecycle.request_machine(owner(), image="desktop", name="demo")
        except SandboxError as error:
            sys.exit(str(error))
        self.stdout.write(reverse("machine", args=[machine.pk]))
        self.stdout.flush()
        self.seen = 0
        self.began = time.monotonic()
        if self._follow(machine, lambda event: event.state != State.READY):
            tasks.tour.apply_async((machine.pk,), queue="agents")
            if self._follow(
                machine, lambda event: event.text != tours.DONE and not event.text.startswith(tours.FAILED)
            ):
                sys.exit(not Event.objects.filter(machine=machine, text=tours.DONE).exists())
        sys.exit(1)

    def _follow(self, machine: Machine, unfinished: Any) -> bool:
        """Show the machine's story until the awaited event; False when the machine ended or took too long."""
        while time.monotonic() - self.began < PATIENCE:
            for event in Event.objects.filter(machine=machine, pk__gt=self.seen):
                self.seen = event.pk
                self.stderr.write(f"  · {time.monotonic() - self.began:5.1f} s  {event.text}")
                if not unfinished(event):
                    return True
                if event.state in (State.FAILED, State.LOST, State.DESTROYED):
                    return False
            time.sleep(0.05)
        self.stderr.write(f"  · nothing more after {PATIENCE} s; ./godhand logs agents machines")
        return False
