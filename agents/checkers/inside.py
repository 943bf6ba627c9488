"""Questions that are answered by a small program inside the machine.

Files, titles and patterns are hostile: what parses them or matches them runs where it can hurt nobody else, with
bounded memory and time, and prints a bounded JSON object.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from sandboxes.guest.client import MIB, Guest

from .base import CannotCheck, shown

ANSWER_LIMIT = 8 * MIB
SECONDS = 60
KILLED = {128 + 9, 128 + 24}


def ask(guest: Guest, program: str, request: dict[str, Any]) -> dict[str, Any]:
    """Run `in_machine_<program>.py` there as the desktop's user.

    Raises CannotCheck when it gives no proper answer, TimedOut, OutputLimit, Gone. An answer with `problem` says what
    is wrong with the thing asked about.
    """
    argv = ["python3", "-I", "-c", _source(program)]
    result = guest.exec(argv, stdin=json.dumps(request).encode(), timeout=SECONDS, output_limit=ANSWER_LIMIT)
    if result.returncode in KILLED:
        raise CannotCheck("Looking into it took more time or memory than a check may use.")
    if result.returncode != 0:
        reason = shown(result.stderr.decode(errors="replace")[-200:]) or f"exit code {result.returncode}"
        raise CannotCheck(f"The machine could not look into it ({reason}).")
    answer = _parsed(result.stdout)
    if "unable" in answer:
        raise CannotCheck(shown(str(answer["unable"])))
    return answer


def problem_of(answer: dict[str, Any]) -> str | None:
    return shown(str(answer["problem"])) if "problem" in answer else None


def found_in(guest: Guest, pattern: str, texts: list[str]) -> int | None:
    """Which of the texts a regular expression is found in. Raises what `ask` raises."""
    index = ask(guest, "search", {"pattern": pattern, "texts": texts}).get("index")
    return index if type(index) is int and 0 <= index < len(texts) else None


@cache
def _source(program: str) -> str:
    return Path(__file__).with_name(f"in_machine_{program}.py").read_text()


def _parsed(output: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise CannotCheck("The machine gave an answer that is not one.")
    return answer
