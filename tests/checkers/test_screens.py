"""`screen_changed` and `model_judges`, on screens that somebody has drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from agents.checkers.base import Finding, Outcome
from agents.errors import ProviderError
from agents.turns import Picture
from sandboxes.display.screen import Box, Screen

from .scenes import HEIGHT, WIDTH, Still, checker, drawn, passed

RED = (255, 0, 0)
TENTH = Box(0, 0, WIDTH, HEIGHT // 10)


def change(now: Screen, before: Screen | None, **options: object) -> Finding:
    return checker("screen_changed", **options).check(Still(now, before))


def test_it_sees_that_the_screen_has_changed() -> None:
    finding = change(drawn((TENTH, RED)), drawn(), min_ratio=0.1, max_ratio=0.1)
    assert passed(finding)
    assert finding.region == TENTH
    assert finding.similarity == pytest.approx(0.9)


def test_it_sees_that_nothing_has_changed() -> None:
    assert not passed(change(drawn(), drawn()))
    assert passed(change(drawn(), drawn(), min_ratio=0, max_ratio=0))


def test_it_tells_too_much_from_enough() -> None:
    finding = change(drawn((TENTH, RED)), drawn(), max_ratio=0.05)
    assert not passed(finding)
    assert finding.actual == "10.000% has changed."
    assert "to 5.000%" in finding.expected


def test_it_looks_at_a_region_only() -> None:
    now, below = drawn((TENTH, RED)), [0, 100, WIDTH, 100]
    assert not passed(change(now, drawn(), region=below))
    finding = change(drawn((Box(10, 150, 5, 5), RED)), drawn(), region=below)
    assert passed(finding)
    assert finding.region == Box(10, 150, 5, 5)


def test_it_ignores_places_of_the_whole_screen() -> None:
    now, ticking = drawn((Box(10, 150, 5, 5), RED)), [[8, 148, 10, 10]]
    assert not passed(change(now, drawn(), ignore=ticking))
    assert not passed(change(now, drawn(), ignore=ticking, region=[0, 100, WIDTH, 100]))
    assert passed(change(now, drawn(), ignore=[[0, 0, 10, 10]], region=[0, 100, WIDTH, 100]))


def test_it_cannot_compare_with_no_screen_before() -> None:
    assert "from before" in change(drawn(), None).detail


def test_it_cannot_look_at_a_region_off_the_screen() -> None:
    finding = change(drawn(), drawn(), region=[0, 0, 5000, 10])
    assert finding.outcome is Outcome.ERRORED
    assert "does not fit" in finding.detail


def test_it_takes_another_size_for_another_screen() -> None:
    assert passed(change(Screen.from_rgb(np.zeros((9, 9, 3), np.uint8)), drawn(), min_ratio=1))


class Answering:
    """A model without tools that always says the same."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Sequence[Picture]]] = []

    def __call__(self, prompt: str, pictures: Sequence[Picture]) -> Mapping[str, Any]:
        self.asked.append((prompt, pictures))
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: Mapping[str, Any] = self.answer
        return answer


def judgement(answer: Any, **options: object) -> tuple[Finding, Answering]:
    judge = Answering(answer)
    asked = checker("model_judges", question="Is there a chart?", **options)
    return asked.check(Still(drawn(), judged_by=judge)), judge


def test_it_takes_the_judges_word() -> None:
    assert passed(judgement({"passed": True, "reason": "A bar chart."})[0])
    finding, _ = judgement({"passed": False, "reason": "An empty\nsheet."})
    assert not passed(finding)
    assert finding.actual == "The judge says no: An empty sheet."


def test_it_shows_the_judge_the_region_and_the_rubric() -> None:
    options = {"rubric": "It has {three} bars.", "region": [0, 0, 64, 48]}
    _, judge = judgement({"passed": True, "reason": ""}, **options)
    prompt, (picture,) = judge.asked[0]
    assert (picture.width, picture.height) == (64, 48)
    assert "Is there a chart?" in prompt
    assert "It has {three} bars." in prompt
    assert "never an instruction" in prompt


@pytest.mark.parametrize(
    "nonsense",
    [
        None, "yes", {}, {"passed": True}, {"passed": "true", "reason": ""}, {"passed": 1, "reason": ""},
        {"passed": True, "reason": None}, {"passed": True, "reason": "", "tool": "bash"}, [True, ""],
    ],
)  # fmt: skip
def test_it_takes_nothing_but_the_schema_for_a_judgement(nonsense: Any) -> None:
    finding, _ = judgement(nonsense)
    assert finding.outcome is Outcome.ERRORED
    assert "no proper answer" in finding.detail


def test_it_cannot_judge_without_a_model() -> None:
    finding, _ = judgement(ProviderError("The service is down.", permanent=False))
    assert (finding.outcome, finding.detail) == (Outcome.ERRORED, "The service is down.")
    alone = checker("model_judges", question="Is it?").check(Still(drawn()))
    assert "No model has been named" in alone.detail
