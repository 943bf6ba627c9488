"""Everything in a step that is not the model's time, in a whole installation: worker, database, files, desktop.

A script that costs no time opens and closes a menu. From one reply to the next there is: the journal, the look at the
screen before, the act, the wait until the screen rests, the pictures, and the look at limits and wishes. The overhead
is that without the wait. The reference way is `xdotool` by exec, two seconds of sleep, and `scrot` by exec.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise

from .installation import installation
from .stats import p50, p95, report

REFERENCE_SLEEP_MS = 2000
OPEN = """
[[step]]
do = [{ right_click = [640, 300] }]

[[step]]
do = [{ key = "Escape" }]
"""
END = """
[[step]]
do = [{ done = "Measured." }]
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench step", description=__doc__)
    parser.add_argument("--n", type=int, default=60, help="steps")
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
            "ratio_vs_reference": REFERENCE_SLEEP_MS / (p50(overheads) + p50(settles)),
            "n": len(overheads),
        }
    )
    return 0


def measure(n: int) -> tuple[list[float], list[float]]:
    """Overheads and waits, in milliseconds, from the trace's own clock."""
    from agents.api import run_task
    from godhand_web.management.commands.loginlink import owner
    from traces.models import Event

    script = OPEN * (n // 2) + END
    trace = run_task(owner(), "Open and close the menu.", provider="scripted", options={"script": script}, timeout=600)
    if trace.state != "succeeded":
        raise SystemExit(f"The run ended as {trace.state}.")
    replies = Event.objects.filter(trace=trace, name="reply").order_by("seq").values_list("seq", "mono_ms")
    settles = {event.turn: event.result["settle_ms"] for event in Event.objects.filter(trace=trace, kind="action")}
    waits = [float(settles[turn]) for turn in range(1, len(replies))]
    gaps = [float(later[1] - earlier[1]) for earlier, later in pairwise(replies)]
    return [gap - wait for gap, wait in zip(gaps, waits, strict=True)], waits


if __name__ == "__main__":
    sys.exit(main())
