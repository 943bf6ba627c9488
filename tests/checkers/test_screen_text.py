"""`screen_text` on the screen of a machine, and on one that somebody has drawn."""

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.scene import MachineScene
from sandboxes.display.screen import Box

from .conftest import Xmessage
from .scenes import Still, checker, drawn, passed


def look(scene: MachineScene, **options: object) -> Finding:
    return checker("screen_text", **options).check(scene)


def middle(box: Box | None) -> tuple[int, int]:
    assert box is not None
    return box.x + box.width // 2, box.y + box.height // 2


def test_it_reads_a_text(scene: MachineScene, window: Xmessage) -> None:
    finding = look(scene, text="quarterly  REPORT 2026")
    assert passed(finding)
    assert window.box.holds(*middle(finding.region))
    assert not passed(look(scene, text="Quarterly Report", absent=True))


def test_it_matches_a_line(scene: MachineScene, window: Xmessage) -> None:
    assert passed(look(scene, regex=r"Report 20\d\d"))
    assert not passed(look(scene, regex=r"Report 19\d\d"))


def test_it_says_what_it_reads_instead(scene: MachineScene, window: Xmessage) -> None:
    finding = look(scene, text="Yearly Statement 1999", region=list(window.box))
    assert not passed(finding)
    assert "Report 2026" in finding.actual
    assert passed(look(scene, text="Yearly Statement 1999", absent=True))


def test_it_reads_in_a_region_only(scene: MachineScene, window: Xmessage) -> None:
    finding = look(scene, text="Quarterly Report", region=list(window.box))
    assert passed(finding)
    assert window.box.holds(*middle(finding.region))
    assert not passed(look(scene, text="Quarterly Report", region=[0, 0, 300, 200]))


@pytest.mark.parametrize("options", [{"text": "hello"}, {"regex": "hello"}])
def test_it_reads_nothing_on_an_empty_screen(options: dict[str, object]) -> None:
    finding = checker("screen_text", **options).check(Still(drawn()))
    assert not passed(finding)
    assert finding.actual == "No text can be read there."


def test_it_cannot_read_off_the_screen(scene: MachineScene) -> None:
    finding = look(scene, text="Quarterly", region=[1000, 700, 1000, 700])
    assert finding.outcome is Outcome.ERRORED
    assert "does not fit" in finding.detail
