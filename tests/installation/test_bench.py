"""A benchmark, also beside an `up` that starts, which removes every machine of its home that has no row."""

import os
import signal
from pathlib import Path

from godhand_web.cli.processes import wait_until
from sandboxes.images import store
from sandboxes.images.store import HOLDS

from .running import Installation, Up


def has_machine(home: Path) -> bool:
    return any(b"runsc-sandbox" in line and os.fsencode(home) in line for line in command_lines())


def command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_it_measures_beside_an_up(installation: Installation) -> None:
    bench = Up(installation, "bench", "screen", "--json")
    assert wait_until(lambda: has_machine(installation.home), 300)
    with installation.serving():
        bench.wait_for('"ratio_vs_scrot_exec"', timeout=300)
    assert bench.wait_for_end(60) == 0
    assert not (installation.home / "bench").exists()


def test_it_leaves_nothing_when_it_is_ended_and_lets_no_second_begin(installation: Installation) -> None:
    """Ended when it has saved a machine, which holds the image that all homes share."""
    bench = Up(installation, "bench", "create", "--json")
    saved = installation.home / "bench/snapshots"
    assert wait_until(lambda: any(saved.glob("[!.]*")), 300)
    held = [store.find("desktop").root.parent / HOLDS / path.name for path in saved.glob("[!.]*")]
    second = installation.call("bench", "screen")
    assert second.returncode == 1
    assert "Another benchmark runs" in second.stderr
    assert bench.stop(signal.SIGTERM) == 128 + signal.SIGTERM
    assert not has_machine(installation.home)
    assert not (installation.home / "bench").exists()
    assert not any(hold.exists() for hold in held)


def test_it_tells_its_options_and_refuses_to_measure_nothing(installation: Installation) -> None:
    assert "--json" in installation.call("bench", "--help").stdout
    assert "[--n N]" in installation.call("bench", "screen", "--help").stdout
    refused = installation.call("bench", "screen", "--n", "0")
    assert refused.returncode == 2
    assert "0 is too few" in refused.stderr
