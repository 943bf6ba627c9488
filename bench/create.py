"""A new machine until its first whole frame: from the warm template, and cold from the image.

Where a Docker engine answers, `docker run` of the same root filesystem until its VNC answers is measured too.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from sandboxes import templates
from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.errors import SandboxError
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.snapshots import SnapshotRef

from . import docker
from .stats import p50, p95, positive, report

IMAGE = "desktop"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench create", description=__doc__)
    parser.add_argument("--n", type=positive, default=15, help="machines of each kind")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    template = templates.ensure(GvisorSandbox, store.find(IMAGE))
    if template is None:
        raise SandboxError("gVisor machines have no template.")
    warm, cold = [], []
    for _ in range(options.n):
        warm.append(first_frame(lambda: from_template(template)))
        cold.append(first_frame(from_image))
    report(
        {
            "template_ms_p50": p50(warm),
            "template_ms_p95": p95(warm),
            "cold_ms_p50": p50(cold),
            "ratio_vs_cold": p50(cold) / p50(warm),
            **docker.run_figure(store.find(IMAGE).root, options.n),
            "n": options.n,
        }
    )
    return 0


def from_template(template: SnapshotRef) -> GvisorSandbox:
    return GvisorSandbox.fork(template, new_id())


def from_image() -> GvisorSandbox:
    machine = GvisorSandbox.create(new_id(), store.find(IMAGE), Options())
    machine.start()
    return machine


def first_frame(make: Callable[[], GvisorSandbox]) -> float:
    began = time.perf_counter()
    machine = make()
    try:
        if machine.first_frame is None:
            with machine.desktop() as desktop:
                desktop.screenshot()
        return (time.perf_counter() - began) * 1000
    finally:
        machine.destroy()


if __name__ == "__main__":
    sys.exit(main())
