"""`screen_region` and `screen_changed` on the screen of a machine."""

from dataclasses import replace

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.references import accept_reference
from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.screen import Box

from .conftest import Xmessage
from .scenes import checker, passed


def look(scene: MachineScene, **options: object) -> Finding:
    return checker("screen_region", reference="window", **options).check(scene)


def accept(scene: MachineScene, region: Box) -> None:
    assert scene.references is not None
    accept_reference(scene.references, "window", scene.screen(), region)


def test_it_accepts_a_screen_and_knows_it_again(scene: MachineScene, window: Xmessage) -> None:
    accept(scene, window.box)
    finding = look(scene, match=99)
    assert passed(finding)
    assert finding.region == window.box


def test_it_finds_a_window_that_was_moved(scene: MachineScene, window: Xmessage) -> None:
    accept(scene, window.box)
    window.move(window.box.x + 25, window.box.y + 10)
    assert not passed(look(scene))
    finding = look(scene, margin=60)
    assert passed(finding)
    assert finding.region == window.box


def test_it_sees_a_window_open_and_close(scene: MachineScene, window: Xmessage) -> None:
    before = replace(scene, before=scene.screen())
    region = list(window.box)
    assert not passed(checker("screen_changed", region=region).check(before))
    window.close()
    assert passed(checker("screen_changed", region=region, min_ratio=0.5).check(before))


@pytest.mark.parametrize("kind", ["screen_region", "screen_changed"])
def test_it_cannot_look_at_a_screen_that_has_gone(machine: GvisorSandbox, scene: MachineScene, kind: str) -> None:
    accept(scene, Box(0, 0, 10, 10))
    gone = replace(scene, desktop=machine.desktop(), before=scene.screen())
    options = {"reference": "window"} if kind == "screen_region" else {}
    gone.desktop.close()
    finding = checker(kind, **options).check(gone)
    assert finding.outcome is Outcome.ERRORED
    assert "is broken" not in finding.detail
