"""A shell that lives in the machine, with its directory, variables and background jobs."""

import shlex
from collections.abc import Mapping
from typing import Any, ClassVar

from ..errors import BadCall
from ..placeholders import Secrets
from ..workplace import Workplace
from .base import Outcome, Tool, cut

MOST_SECONDS = 600


class Bash(Tool):
    name: ClassVar[str] = "bash"
    description: ClassVar[str] = (
        "Run a command in a bash that stays open in the machine: directory, variables and background jobs are kept "
        "between calls. Start programs with a window by adding & at the end. Output is text, cut when it is long. "
        "`restart` ends the shell and all it started."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "command": {"type": "string"},
        "timeout": {"type": "number", "description": "Seconds; 120 unless given."},
        "restart": {"type": "boolean"},
    }
    repeatable: ClassVar[bool] = True

    def filled(self, given: Mapping[str, Any], secrets: Secrets) -> Mapping[str, Any]:
        """Each as one word of the shell, whatever is in it."""
        return {name: secrets.fill(value, shlex.quote) for name, value in given.items()}

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        timeout = given.get("timeout", 120)
        if not 0 < timeout <= MOST_SECONDS:
            raise BadCall(f"timeout: must be above 0 and at most {MOST_SECONDS} seconds.")
        if given.get("restart"):
            with place.guest() as guest:
                guest.restart_bash()
            return Outcome("The shell was restarted.")
        if not given.get("command"):
            raise BadCall("command: bash needs it, or restart.")
        with place.guest() as guest:
            result = guest.bash(given["command"], timeout=timeout, op_id=place.doing or None)
        text = cut(result.output.decode(errors="replace")) or "(no output)"
        notes = [
            f"exit code {result.exit_code}" if result.exit_code and not result.timed_out else "",
            f"ended after {timeout:g} seconds" if result.timed_out else "",
            "the shell is gone; the next command gets a new one" if result.restarted else "",
            "output was cut" if result.truncated else "",
        ]
        told = "; ".join(filter(None, notes))
        return Outcome(f"{text}\n[{told}]" if told else text, ok=not result.exit_code and not result.timed_out)
