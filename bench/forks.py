"""Forks of forks, and many of one: what they cost at first and at last, what is left of them, and how quick pages stay.

An installation of its own runs two tasks. The first hands itself on to one branch again and again, so many deep; the
second is forked once, so many wide, with fewer places for machines than branches. Then both are deleted. A leak is a
process, namespace, link, group, mount or file that was not there before; `bytes_left` are those of saved machines.
"""

import argparse
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .installation import installation
from .stats import milliseconds, p50, positive, report

TIMEOUT = 3600.0
DEEP = """
[[step]]
label = "on"
do = [{ machine = { verb = "fork", alternatives = ["Go on."], rest = true } }]

[[step]]
if_failed = true
else = "on"

[[step]]
do = [{ done = "So deep." }]
"""
WIDE = """
[[step]]
do = [{ machine = { verb = "snapshot", label = "here" } }]

[[step]]
do = [{ done = "So wide." }]
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench forks", description=__doc__)
    parser.add_argument("--deep", type=int, default=50)
    parser.add_argument("--wide", type=int, default=50)
    parser.add_argument("--places", type=positive, default=12, help="machines at once")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    os.environ["GODHAND_MACHINES"] = str(options.places)
    with installation():
        import django

        django.setup()
        results = measure(options.deep, options.wide)
    report(results)
    return int(bool(results["leaked"] or results["bytes_left"]))


def measure(deep: int, wide: int) -> dict[str, Any]:
    from .density import on_host

    warm_up()
    before = on_host()
    kept = saved_bytes()
    runs = [go_deep(deep), go_wide(wide)]
    pages = [p50([milliseconds(opened) for _ in range(5)]) for opened in map(page_of, runs)]
    results: dict[str, Any] = {}
    for name, run, page in zip(("deep", "wide"), runs, pages, strict=True):
        costs = costs_of(run)
        tenth = max(1, len(costs) // 10)
        results |= {
            f"{name}_forks": len(costs),
            f"{name}_ms_first": p50(costs[:tenth]),
            f"{name}_ms_last": p50(costs[-tenth:]),
            f"{name}_page_ms": page,
        }
    print(results, file=sys.stderr, flush=True)
    most = saved_bytes()
    deleted = milliseconds(lambda: delete(runs))
    until("nothing is left", lambda: saved_bytes() <= kept and not leaks(before), 300, give_up=False)
    found = leaks(before)
    for line in found:
        print(f"left: {line}", file=sys.stderr)
    left = max(0, saved_bytes() - kept)
    return {**results, "bytes_most": most, "bytes_left": left, "delete_ms": deleted, "leaked": len(found)}


def warm_up() -> None:
    """The template of new machines is made beside the first one, and stays."""
    from sandboxes import lifecycle, templates
    from sandboxes.models import Machine, State

    machine = lifecycle.request_machine(owner(), image="desktop")
    until("the first machine", lambda: Machine.objects.get(pk=machine.pk).state == State.READY, 120)
    until("the template", lambda: bool(templates.ids()), 120)
    lifecycle.request_destroy(machine)
    until("its end", lambda: Machine.objects.get(pk=machine.pk).state == State.DESTROYED, 60)


def go_deep(deep: int) -> Any:
    """Until its budget of branches is used up; the last one says that it is done."""
    return ended(submit(DEEP, deep + 1))


def go_wide(wide: int) -> Any:
    from agents.explore import best_of

    run = ended(submit(WIDE, wide + 1))
    best_of(run, None, wide, key="wide")
    run.refresh_from_db()
    return ended(run)


def submit(script: str, budget: int) -> Any:
    from agents.api import submit

    plan = {"stop": "all", "judge": False, "budget": budget}
    return submit(owner(), "Fork.", provider="scripted", options={"script": script}, plan=plan)


def ended(run: Any) -> Any:
    from agents.api import wait

    return wait(run, TIMEOUT)


def costs_of(run: Any) -> list[float]:
    """Milliseconds from the wish for a branch's machine to the branch's first word there, in that order."""
    from traces.models import Event

    asked = {branch.name: branch.machine.created_at for branch in run.branches.exclude(parent=None) if branch.machine}
    hints = Event.objects.filter(trace=run.trace_id, name="hint").order_by("seq")
    return [(hint.ended_at - asked[hint.branch]).total_seconds() * 1000 for hint in hints if hint.ended_at]


def page_of(run: Any) -> Callable[[], object]:
    """The whole page of the trace, as it comes over the wire to whoever is logged in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(owner())
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    page = urllib.request.Request(f"{settings.PUBLIC_URL}/traces/{run.trace_id}/", headers={"Cookie": cookie})
    return lambda: _read(page)


def _read(page: urllib.request.Request) -> None:
    with urllib.request.urlopen(page) as answer:
        if b"b1" not in answer.read():
            raise SystemExit("The page does not show the branches.")


def delete(runs: Sequence[Any]) -> None:
    from agents.removal import delete_trace

    for run in runs:
        delete_trace(run.trace)


def saved_bytes() -> int:
    from sandboxes.host import here

    walk = os.walk(here().home / "snapshots")
    return sum(_room(Path(folder, name)) for folder, _, names in walk for name in names)


def _room(path: Path) -> int:
    """Nothing for one that is deleted just now."""
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def leaks(before: dict[str, set[str]]) -> list[str]:
    from .density import on_host

    return [f"{kind} {name}" for kind, names in on_host().items() for name in sorted(names - before[kind])]


def owner() -> Any:
    from godhand_web.management.commands.loginlink import owner

    return owner()


def until(what: str, condition: Callable[[], bool], seconds: float, *, give_up: bool = True) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            if give_up:
                raise SystemExit(f"It never came: {what}.")
            return
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
