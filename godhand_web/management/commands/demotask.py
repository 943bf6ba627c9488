import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.urls import reverse

from agents import api
from agents.errors import AgentError
from agents.examples import EXAMPLES, Example
from agents.models import ENDED, Run
from godhand_web.management.commands.loginlink import owner
from sandboxes.errors import SandboxError
from traces.events import Fate
from traces.queries import changes_after
from traces.steps import Step, steps_of

PATIENCE = 600
POLL = 0.1


class Command(BaseCommand):
    help = "Runs one of the examples that need no key, tells its steps, prints its page. Exit code 1 when it failed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        scripted = [example.name for example in EXAMPLES.values() if example.script]
        parser.add_argument("example", nargs="?", default="trap", choices=scripted)

    def handle(self, *_arguments: str, **options: Any) -> None:
        try:
            run = submit(EXAMPLES[options["example"]])
        except (AgentError, SandboxError) as error:
            sys.exit(str(error))
        self.stdout.write(reverse("trace", args=[run.trace_id]))
        self.stdout.flush()
        self.began = time.monotonic()
        self._follow(run)
        self._tell(f"The run has {run.state}{_why(run)}")
        sys.exit(run.state != "succeeded")

    def _follow(self, run: Run) -> None:
        revision, told = 0, set[int]()
        while time.monotonic() - self.began < PATIENCE:
            run.refresh_from_db()
            for event in (changes := changes_after(run.trace_id, revision, 200)):
                revision = event.revision
            for step in steps_of(changes):
                if step.id not in told and step.event.fate not in (Fate.PLANNED, Fate.INTENT):
                    told.add(step.id)
                    self._tell(_line(step))
            if run.state in ENDED and not changes:
                return
            time.sleep(POLL)
        self._tell(f"it has not ended after {PATIENCE} s; ./godhand logs agents machines")

    def _tell(self, text: str) -> None:
        self.stderr.write(f"  · {time.monotonic() - self.began:5.1f} s  {text}")


def submit(example: Example) -> Run:
    return api.submit(
        owner(),
        example.goal,
        provider="scripted",
        options={"script": example.script},
        attachments=example.attachments(),
        checks=example.checks,
        plan=example.plan,
    )


def _line(step: Step) -> str:
    mark = "" if step.status in ("ok", "neutral") else f" [{step.status}]"
    return f"{step.branch:<5} {step.sentence}{mark}"


def _why(run: Run) -> str:
    reasons = run.choice.get("reasons") or ()
    return f": {run.choice['order'][0]['branch']} was chosen. {' '.join(reasons)}" if reasons else ""
