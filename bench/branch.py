"""Best of four ways: forked at step 20 of 30, against four runs from the beginning; and what saving costs a run.

A script with a scripted latency plays the model. All four ways share their first 20 steps; one of them is right, and is
tried last. Both sides have the same places for machines, the same checks after every step, and the same rules: a way
ends when the checks of two steps in a row have failed, and all end when one has passed. `--to-the-end` does without the
rules. Side by side, with a place for each way, nobody waits for the beginning: there a fork saves calls, and no time.
The overhead is that of a snapshot after every fifth step, on the time from the first reply to the last.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from .installation import installation
from .stats import p50, positive, report

WAYS, SHARED, LENGTH = 4, 20, 30
PATIENCE = 2
TIMEOUT = 1200.0
GOAL = "Keep the ledger."
CHECKS: list[dict[str, Any]] = [
    {
        "name": "the ledger adds up",
        "kind": "command_succeeds",
        "bash": "! grep -q wrong ledger.txt",
        "when": ["step", "done"],
    },
    {"name": "the ledger is whole", "kind": "file_contains", "path": "ledger.txt", "text": "right"},
]
OPEN = "touch ledger.txt; (mousepad >/dev/null 2>&1 &); xdotool search --sync --onlyvisible --class mousepad"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench branch", description=__doc__)
    parser.add_argument("--latency", type=float, default=3.0, help="seconds that each reply takes")
    parser.add_argument("--places", type=positive, default=1, help="machines side by side, for both")
    parser.add_argument("--runs", type=int, default=2, help="with and without snapshots, for the overhead; 0: none")
    parser.add_argument("--to-the-end", action="store_true", help="every way goes on to its end")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    os.environ["GODHAND_MACHINES"] = str(options.places)
    with installation():
        import django

        django.setup()
        results = Race(options.latency, stop=not options.to_the_end).run(options.runs)
    if options.places == 1 and not options.to_the_end:
        results |= side_by_side(options.latency)
    report({**results, "latency_s": options.latency, "places": options.places})
    return 0


def side_by_side(latency: float) -> dict[str, Any]:
    """In a process of its own, for an installation's settings are read once."""
    argv = [sys.executable, "-m", "bench.branch", "--places", str(WAYS), "--runs", "0", "--latency", str(latency)]
    done = subprocess.run([*argv, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {f"parallel_{name}": found[name] for name in ("fork_wall_s", "rerun_wall_s", "wall_ratio", "calls_ratio")}


def script() -> str:
    """A way is told by the goal or by a hint; a task that names none forks into all of them."""
    typed = [{"type": f"line {number}\n"} for number in range(2, SHARED + 1)]
    steps = [_step({"bash": OPEN}), *map(_step, typed)]
    steps += [f'[[step]]\nif_said = "way {way}"\nthen = "way-{way}"' for way in range(1, WAYS + 1)]
    alternatives = [f"way {way}" for way in range(1, WAYS + 1)]
    steps.append(_step({"machine": {"verb": "fork", "alternatives": alternatives, "rest": True}}, goto="end"))
    for way in range(1, WAYS + 1):
        steps += _way(way)
    return "\n\n".join(steps)


def _way(way: int) -> list[str]:
    """The wrong ones say three times that they are done, as a model does that is told that it is not."""
    is_right, more = way == WAYS, LENGTH - SHARED
    last = 1 if is_right else 3
    calls: list[dict[str, Any]] = [{"bash": f"echo {'right' if is_right else 'wrong'} >>ledger.txt"}]
    calls += [{"type": f"way {way}, {number}\n"} for number in range(1, more - last)]
    calls += [{"done": f"The ledger is kept, says {number}."} for number in range(last)]
    first, *rest = calls
    return [_step(first, label=f"way-{way}"), *map(_step, rest[:-1]), _step(rest[-1], goto="end")]


def _step(call: dict[str, Any], **keys: str) -> str:
    (name, given), *_ = call.items()
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(["[[step]]", *lines, f"do = [{{ {name} = {_toml(given)} }}]"])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    return json.dumps(value)


class Race:
    """Needs Django to be set up, and an installation that runs."""

    def __init__(self, latency: float, *, stop: bool) -> None:
        from godhand_web.management.commands.loginlink import owner

        self.owner, self.options = owner(), {"script": script(), "latency": latency}
        self.stop = stop
        self.plan = {"stop": "first", "patience": PATIENCE} if stop else {"stop": "all"}

    def run(self, overheads: int) -> dict[str, Any]:
        results: dict[str, Any] = {}
        if overheads:
            pairs = [(self.plain({}), self.plain({"every": 5})) for _ in range(overheads)]
            without, saved = (p50([pair[place] for pair in pairs]) for place in (0, 1))
            results = {"snapshot_overhead_pct": (saved / without - 1) * 100, "plain_run_s": without}
        fork_wall, fork_calls = self.forked()
        rerun_wall, rerun_calls = self.rerun()
        return {
            "fork_wall_s": fork_wall,
            "rerun_wall_s": rerun_wall,
            "wall_ratio": rerun_wall / fork_wall,
            "calls_ratio": rerun_calls / fork_calls,
            "fork_calls": fork_calls,
            "rerun_calls": rerun_calls,
            **results,
        }

    def plain(self, plan: dict[str, Any]) -> float:
        """Seconds from the first reply to the last of a run that takes the right way."""
        from traces.models import Event

        run = self.submitted(f"{GOAL} Take way {WAYS}.", plan)
        self.until([run], every=True)
        times = Event.objects.filter(trace=run.trace_id, name="reply").order_by("seq").values_list("mono_ms", flat=True)
        return float(times[len(times) - 1] - times[0]) / 1000

    def forked(self) -> tuple[float, int]:
        began = time.monotonic()
        run = self.submitted(GOAL, self.plan)
        self.until([run], every=True)
        if not run.chosen or not run.chosen.verdict["passed"]:
            raise SystemExit(f"No branch was chosen that passed: {run.choice}")
        wall = time.monotonic() - began
        self.clear()
        return wall, calls([run])

    def clear(self) -> None:
        """The machine of the chosen one goes on: it is no place that the others must wait for."""
        from sandboxes import lifecycle
        from sandboxes.models import OFF_HOST, Machine

        left = Machine.objects.exclude(state__in=OFF_HOST)
        while left.exists():
            for machine in left.filter(state="ready"):
                lifecycle.request_destroy(machine)
            time.sleep(0.05)

    def rerun(self) -> tuple[float, int]:
        began = time.monotonic()
        runs = [self.submitted(f"{GOAL} Take way {way}.", self.plan) for way in range(1, WAYS + 1)]
        self.until(runs, every=not self.stop)
        return time.monotonic() - began, calls(runs)

    def submitted(self, goal: str, plan: dict[str, Any]) -> Any:
        from agents.api import submit

        return submit(self.owner, goal, provider="scripted", options=self.options, checks=CHECKS, plan=plan)

    def until(self, runs: Sequence[Any], *, every: bool) -> None:
        """All have ended, or one has passed, which ends the others."""
        from agents import lifecycle

        deadline = time.monotonic() + TIMEOUT
        while not all(run.ended for run in runs):
            if time.monotonic() > deadline:
                raise SystemExit(f"The runs do not end: {[run.state for run in runs]}")
            time.sleep(0.05)
            for run in runs:
                run.refresh_from_db()
            if not every and any(run.state == "succeeded" for run in runs):
                for branch in (branch for run in runs for branch in run.branches.all() if not branch.ended):
                    lifecycle.request_cancel(branch)
                every = True


def calls(runs: Sequence[Any]) -> int:
    from traces.models import Event

    return Event.objects.filter(trace__in=[run.trace_id for run in runs], name="reply", kind="message").count()


if __name__ == "__main__":
    sys.exit(main())
