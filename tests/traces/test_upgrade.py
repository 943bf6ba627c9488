from typing import Any

import pytest

from traces.errors import Unreadable
from traces.events import VERSION
from traces.upgrade import STEPS, upgrade


def rename(trace: Any) -> Any:
    return {"version": trace["version"], "events": trace["steps"]}


def count(trace: Any) -> Any:
    return {**trace, "count": len(trace["events"])}


def test_it_goes_through_every_version_in_order() -> None:
    old = {"version": 1, "steps": [{}, {}]}
    new = {"version": 3, "events": [{}, {}], "count": 2}
    assert upgrade(old, steps={1: rename, 2: count}, version=3) == new
    assert upgrade({"version": 2, "events": [{}, {}]}, steps={1: rename, 2: count}, version=3) == new


def test_it_leaves_a_trace_of_today_alone() -> None:
    assert upgrade({"version": VERSION, "events": []}) == {"version": VERSION, "events": []}


def test_it_has_a_step_from_every_older_version() -> None:
    assert set(STEPS) == set(range(1, VERSION))


def test_it_refuses_a_newer_version_and_says_what_to_do() -> None:
    with pytest.raises(Unreadable, match=rf"version {VERSION + 1} of the format.*reads up to {VERSION}: update it"):
        upgrade({"version": VERSION + 1})


@pytest.mark.parametrize("trace", [None, [], {}, {"version": "1"}, {"version": True}, {"version": 0}])
def test_it_refuses_what_is_no_trace(trace: Any) -> None:
    with pytest.raises(Unreadable, match="This is no trace"):
        upgrade(trace)
