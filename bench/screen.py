"""A changed 1280×800 screen to an encoded JPEG: our RFB client, scrot by runsc exec, vncdotool.

A key is typed into an editor before each picture, so that every way has something new to show. `rfb` is what the
product does: the connection is kept, what changed travels, the whole frame is encoded. `rfb_whole` makes every pixel
travel again, as vncdotool's refresh does.
"""

import argparse
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PIL import Image
from vncdotool import api

from sandboxes.actions import Type
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.rfb import RfbClient
from sandboxes.display.screen import Screen

from .machine import fresh_machine
from .stats import milliseconds, p50, p95, positive, report

QUALITY = 75
WARM_UP = 3
SHOT = f"DISPLAY=:1 scrot -o -q {QUALITY} /tmp/bench.jpg && cat /tmp/bench.jpg"

Way = Callable[[], bytes]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench screen", description=__doc__)
    parser.add_argument("--n", type=positive, default=40, help="pictures per way")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with fresh_machine("desktop") as machine, editor(machine) as type_a_key, ways(machine) as found:
        times = measure(found, type_a_key, options.n, quiet=options.json)
    results: dict[str, float | int] = {
        f"{name}_ms_{label}": of(values) for name, values in times.items() for label, of in (("p50", p50), ("p95", p95))
    }
    results["ratio_vs_scrot_exec"] = p50(times["scrot_exec"]) / p50(times["rfb"])
    results["ratio_vs_vncdotool"] = p50(times["vncdotool"]) / p50(times["rfb"])
    results["whole_ratio_vs_scrot_exec"] = p50(times["scrot_exec"]) / p50(times["rfb_whole"])
    results["whole_ratio_vs_vncdotool"] = p50(times["vncdotool"]) / p50(times["rfb_whole"])
    results["n"] = options.n
    report(results)
    return 0


def measure(ways: dict[str, Way], change: Callable[[], None], n: int, *, quiet: bool) -> dict[str, list[float]]:
    """All ways in turn, so that a noisy host is noisy for all."""
    for name, way in ways.items():
        for _ in range(WARM_UP):
            check(name, way())
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(n):
        for name, way in ways.items():
            change()
            times[name].append(milliseconds(way))
    if not quiet:
        for name, values in times.items():
            print(f"{name:16} p50 {p50(values):8.1f} ms   p95 {p95(values):8.1f} ms", file=sys.stderr)
    return times


def check(name: str, picture: bytes) -> None:
    size = Image.open(io.BytesIO(picture)).size
    if size != (1280, 800):
        raise SystemExit(f"{name} gave a picture of {size[0]}×{size[1]}.")


@contextmanager
def editor(machine: GvisorSandbox) -> Iterator[Callable[[], None]]:
    """An open editor and the means to change what it shows; returns when the change has been drawn."""
    with machine.guest() as guest:
        guest.bash("mousepad >/dev/null 2>&1 &")
    machine.exec(["xdotool", "search", "--sync", "--onlyvisible", "--name", "Mousepad"])
    with machine.desktop() as desktop:
        while desktop.wait_for_change(desktop.version, 1):
            pass

        def type_a_key() -> None:
            before = desktop.version
            desktop.perform(Type("x"))
            if not desktop.wait_for_change(before, 5):
                raise SystemExit("The editor shows nothing new.")

        yield type_a_key


@contextmanager
def ways(machine: GvisorSandbox) -> Iterator[dict[str, Way]]:
    """Each peer at its best: vncdotool keeps its connection and writes to memory."""
    endpoint = machine.endpoint()
    rfb = RfbClient.connect(endpoint.host, endpoint.vnc_port)
    peer = api.connect(f"{endpoint.host}::{endpoint.vnc_port}", timeout=30)

    def whole_frame() -> bytes:
        rfb.refresh(whole=True)
        return Screen(rfb.pixels()).encode("jpeg", quality=QUALITY)

    def only_changes() -> bytes:
        rfb.refresh()
        return Screen(rfb.pixels()).encode("jpeg", quality=QUALITY)

    def vncdotool() -> bytes:
        out = io.BytesIO()
        peer.refreshScreen()
        peer.screen.save(out, "jpeg", quality=QUALITY)
        return out.getvalue()

    def scrot_exec() -> bytes:
        return machine.runsc_exec(["sh", "-c", SHOT]).stdout

    try:
        yield {
            "rfb": only_changes,
            "rfb_whole": whole_frame,
            "scrot_exec": scrot_exec,
            "vncdotool": vncdotool,
        }
    finally:
        rfb.close()
        peer.disconnect()
        api.shutdown()


if __name__ == "__main__":
    sys.exit(main())
