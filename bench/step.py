"""Everything in a step that is not the model's time, in a whole installation: worker, database, files, desktop.

A script that costs no time types letters into an editor, so that every step has a new screen. From one reply to the
next there is: the journal, the look at the screen before, the act, the wait until the screen rests, the pictures, and
the look at limits and wishes. The overhead is that without the wait. `bench action` measures the reference way, which
sleeps for two seconds.
"""

import argparse
import sys
from collections.abc import Sequence

from .installation import installation
from .stats import p50, p95, positive, report

BEGIN = """
[[step]]
do = [{ bash = "(mousepad >/dev/null 2>&1 &)" }]

[[step]]
wait_for = "Untitled"
do = [{ left_click = [640, 400] }]
"""
STEP = """
[[step]]
do = [{ type = "x" }]
"""
END = """
[[step]]
do = [{ done = "Measured." }]
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench step", description=__doc__)
    parser.add_argument("--n", type=positive, default=60, help="steps")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with installation():
        import django

        django.setup()
        overheads, settles = measure(options.n)
    report(
        {
            "overhead_ms_p50": p50(overheads),
            "overhead_ms_p95": p95(overheads),
            "settle_ms_p50": p50(settles),
            "step_ms_p50": p50([one + other for one, other in zip(overheads, settles, strict=True)]),
            "n": len(overheads),
        }
    )
    return 0


def measure(n: int) -> tuple[list[float], list[float]]:
    """Overheads and waits, in milliseconds, from the trace's own clock."""
    from agents.api import run_task
    from godhand_web.management.commands.loginlink import owner
    from traces.models import Event

    script = BEGIN + STEP * n + END
    trace = run_task(owner(), "Type.", provider="scripted", options={"script": script}, timeout=600)
    if trace.state != "succeeded":
        raise SystemExit(f"The run ended as {trace.state}.")
    began = {event.turn: event.mono_ms for event in Event.objects.filter(trace=trace, name="reply")}
    typed = Event.objects.filter(trace=trace, kind="action", name="type")
    waits = {event.turn: float(event.result["settle_ms"]) for event in typed}
    overheads = [began[turn + 1] - began[turn] - wait for turn, wait in waits.items()]
    return overheads, list(waits.values())


if __name__ == "__main__":
    sys.exit(main())
