"""A click to the settled screen after it: ours, and xdotool, two seconds' sleep and scrot, both by runsc exec.

The click that changes something opens the File menu of an editor; the one that changes nothing goes to the empty page
of that editor. All are timed from before the click until the JPEG is here. When settling gave up before the menu
appeared, `late` counts it and the time goes on until the menu is there.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence

from sandboxes.actions import Click, Key
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop

from .machine import fresh_machine
from .screen import QUALITY, SHOT, WARM_UP, check, editor
from .stats import milliseconds, p50, p95, positive, report

SLEEP = 2.0
PATIENCE = 10.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench action", description=__doc__)
    parser.add_argument("--n", type=positive, default=30, help="clicks of each kind; by the reference way a third")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with fresh_machine("desktop") as machine, editor(machine), machine.desktop() as desktop:
        bench = Bench(machine, desktop)
        times = bench.run(options.n)
    results: dict[str, float | int] = {
        f"{name}_ms_{label}": of(values) for name, values in times.items() for label, of in (("p50", p50), ("p95", p95))
    }
    if not options.json:
        for name, value in results.items():
            print(f"{name:18} {value:8.1f}", file=sys.stderr)
    ratio = p50(times["reference"]) / p50(times["changed"])
    report(results | {"ratio_vs_reference": ratio, "late": bench.late, "n": options.n})
    return 0


class Bench:
    def __init__(self, machine: GvisorSandbox, desktop: Desktop) -> None:
        self.machine = machine
        self.desktop = desktop
        self.late = 0
        left, top, width, height = window(machine)
        self.menu = left + 19, top + 12
        self.page = left + width // 2, top + height * 3 // 4

    def run(self, n: int) -> dict[str, list[float]]:
        """The kinds in turn, so that a noisy host is noisy for all."""
        for _ in range(WARM_UP):
            self.unchanged()
            self.timed(self.changed)
        self.late = 0
        times: dict[str, list[float]] = {"changed": [], "unchanged": [], "reference": []}
        for turn in range(n):
            times["unchanged"].append(milliseconds(self.unchanged))
            times["changed"].append(self.timed(self.changed))
            if turn % 3 == 0:
                times["reference"].append(self.timed(self.reference))
        return times

    def timed(self, opens_the_menu: Callable[[], bytes]) -> float:
        took = milliseconds(lambda: check(opens_the_menu.__name__, opens_the_menu()))
        before = self.desktop.version
        self.desktop.perform(Key("Escape"))
        if not self.desktop.settle(before, first=PATIENCE, cap=PATIENCE).changed:
            raise SystemExit("The menu had not opened.")
        return took

    def unchanged(self) -> bytes:
        before = self.desktop.version
        self.desktop.perform(Click(*self.page))
        return self.desktop.settle(before).screen.encode("jpeg", quality=QUALITY)

    def changed(self) -> bytes:
        before = self.desktop.version
        self.desktop.perform(Click(*self.menu))
        settled = self.desktop.settle(before)
        if not settled.changed:
            self.late += 1
            settled = self.desktop.settle(before, first=PATIENCE, cap=PATIENCE)
        return settled.screen.encode("jpeg", quality=QUALITY)

    def reference(self) -> bytes:
        x, y = map(str, self.menu)
        self.machine.runsc_exec(["env", "DISPLAY=:1", "xdotool", "mousemove", x, y, "click", "1"])
        time.sleep(SLEEP)
        return self.machine.runsc_exec(["sh", "-c", SHOT]).stdout


def window(machine: GvisorSandbox) -> tuple[int, int, int, int]:
    """Where the editor is, without its frame."""
    found = machine.exec(["xdotool", "search", "--onlyvisible", "--class", "mousepad"]).stdout.decode().split()
    facts = machine.exec(["xwininfo", "-id", found[-1]]).stdout.decode()
    labels = ("Absolute upper-left X", "Absolute upper-left Y", "Width", "Height")
    x, y, width, height = (int(re.findall(rf"{label}: +(-?\d+)", facts)[0]) for label in labels)
    return x, y, width, height


if __name__ == "__main__":
    sys.exit(main())
