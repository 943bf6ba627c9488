"""Which snapshots are kept: the newest, of older ones ever fewer, within a budget."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from agents import thinning
from agents.effects import CLASSES
from agents.models import Branch, Run, State
from sandboxes.models import Machine, Snapshot

from .conftest import Submit
from .test_explore import saved


def rows(*sizes: int) -> list[Any]:
    return [SimpleNamespace(number=number, size=size) for number, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "budget", "gone"),
    [
        ([], 10, []),
        ([1] * 7, 10, []),
        ([1] * 8, 10, [1]),
        ([1] * 12, 20, [1, 3]),
        ([5, 5, 5], 10, [0]),
        ([1] * 8, 3, [1, 0, 2, 3, 4]),
        ([100], 10, []),
    ],
)
def test_it_finds_what_is_not_worth_its_room(sizes: list[int], budget: int, gone: list[int]) -> None:
    found: list[Any] = list(thinning._surplus(rows(*sizes), budget))
    assert [row.number for row in found] == gone


def test_it_knows_all_that_a_plan_takes() -> None:
    effects = [*CLASSES, "submit"]
    for label in ("after 12 steps", "verified after 3 steps", *(f"before: {effect}" for effect in effects)):
        assert re.match(thinning.MADE_BY_PLAN, label)
    for label in ("before the fork", "before: lunch", "by the agent", "at its end"):
        assert not re.match(thinning.MADE_BY_PLAN, label)


@pytest.mark.django_db(transaction=True)
def test_it_thins_runs_that_are_over(submit_to_claude: Submit, machine_row: Machine) -> None:
    main = submit_to_claude()
    for number in range(8):
        saved(machine_row, f"after {number} steps")
    begun = machine_row.snapshots.get(label="after 1 steps")
    mine = saved(machine_row, "mine")
    thinning.thin_ended()
    assert Snapshot.objects.count() == 9
    Run.objects.filter(pk=main.run_id).update(state=State.SUCCEEDED)
    child = Branch.objects.create(run=main.run, name="b1", parent=main, snapshot=begun, state=State.FAILED)
    thinning.thin_ended()
    assert Snapshot.objects.count() == 9
    child.delete()
    thinning.thin_ended()
    assert Snapshot.objects.count() == 8
    assert not Snapshot.objects.filter(pk=begun.pk).exists()
    assert Snapshot.objects.filter(pk=mine.pk).exists()
