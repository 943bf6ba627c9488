import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from traces.compare import Kin, Path, compare, sums_of
from traces.events import Actor, Fate, Kind, Outcome, Recorded
from traces.lcs import common_subsequence
from traces.payloads import EventId
from traces.steps import Step, steps_of

START = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
LETTERS = st.lists(st.sampled_from("abc"), max_size=12)


def event(number: int, kind: Kind = Kind.ACTION, *, branch: str = "main", ok: bool = True, **more: Any) -> Recorded:
    action = kind == Kind.ACTION
    values: dict[str, Any] = {
        "id": EventId(number),
        "seq": number,
        "revision": number,
        "branch": branch,
        "parent": EventId(number - 1),
        "actor": Actor.AGENT if action else Actor.SYSTEM,
        "kind": kind,
        "turn": 1,
        "name": "left_click",
        "data": {"input": {}},
        "fate": Fate.DONE if action else Fate.NONE,
        "ok": ok,
        "op_id": "",
        "act": None,
        "result": None,
        "before": None,
        "after": None,
        "started_at": START + timedelta(seconds=number),
        "ended_at": START + timedelta(seconds=number),
        "hidden": 0,
    }
    return Recorded(**{**values, **more})


def click(number: int, x: int, y: int, **more: Any) -> Recorded:
    return event(number, act={"action": "Click", "x": x, "y": y, "button": 1, "count": 1}, **more)


def typed(number: int, text: str, **more: Any) -> Recorded:
    return event(number, name="type", act={"action": "Type", "text": text}, **more)


def ran(number: int, command: str, **more: Any) -> Recorded:
    return event(number, name="bash", data={"input": {"command": command}}, **more)


def checked(number: int, *outcomes: Outcome) -> Recorded:
    findings = [{"name": f"check {at}", "outcome": outcome} for at, outcome in enumerate(outcomes)]
    return event(number, Kind.VERIFY, actor=Actor.VERIFIER, name="end", data={"findings": findings})


def kins(a: Sequence[Recorded], b: Sequence[Recorded]) -> list[str]:
    return [row.kin for row in compare(Path(steps_of(a)), Path(steps_of(b))).rows]


def longest(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for letter in a:
        above, row = row, [0]
        for at, other in enumerate(b):
            row.append(above[at] + 1 if letter == other else max(above[at + 1], row[at]))
    return row[-1]


@given(LETTERS, LETTERS)
def test_it_finds_the_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    pairs = common_subsequence(a, b)
    assert all(a[at] == b[other] for at, other in pairs)
    assert all(first[0] < then[0] and first[1] < then[1] for first, then in pairwise(pairs))
    assert len(pairs) == longest(a, b)


def test_it_shows_common_ancestors_once() -> None:
    shared = [click(1, 10, 10), typed(2, "hello")]
    a = [*shared, click(3, 500, 500)]
    b = [*shared, click(4, 500, 500, branch="b1"), typed(5, "more", branch="b1")]
    found = compare(Path(steps_of(a)), Path(steps_of(b)))
    assert [step.id for step in found.shared] == [1, 2]
    assert [row.kin for row in found.rows] == [Kin.SAME, Kin.ONLY_B]
    assert found.first_divergence == 1


def test_it_tells_same_changed_and_alone_apart() -> None:
    a = [click(1, 100, 100), ran(2, "ls"), typed(3, "Ann"), click(4, 700, 700)]
    b = [click(11, 100, 100), typed(13, "Bob"), event(14, name="done"), click(15, 700, 700)]
    assert kins(a, b) == [Kin.SAME, Kin.ONLY_A, Kin.CHANGED, Kin.ONLY_B, Kin.SAME]


def test_it_forgives_a_trembling_hand_even_across_the_lines_of_its_grid() -> None:
    for x in range(90, 140):
        assert kins([click(1, x, 300)], [click(11, x + 12, 306)]) == [Kin.SAME]
    assert kins([click(1, 100, 300)], [click(11, 200, 300)]) == [Kin.CHANGED]


def test_it_knows_a_button_that_has_moved_by_what_is_written_on_it() -> None:
    a, b = steps_of([click(1, 100, 100)]), steps_of([click(11, 900, 600)])
    found = compare(Path(a, targets={EventId(1): "Save"}), Path(b, targets={EventId(11): "Save"}))
    assert [row.kin for row in found.rows] == [Kin.SAME]


def test_it_measures_places_by_each_screens_own_size() -> None:
    a, b = Path(steps_of([click(1, 640, 400)]), (1280, 800)), Path(steps_of([click(11, 960, 600)]), (1920, 1200))
    assert [row.kin for row in compare(a, b).rows] == [Kin.SAME]


def test_it_calls_what_went_another_way_changed() -> None:
    assert kins([ran(1, "make")], [ran(11, "make", ok=False)]) == [Kin.CHANGED]
    passed, failed = Outcome.PASSED, Outcome.FAILED
    assert kins([checked(1, failed, failed)], [checked(11, failed, passed)]) == [Kin.CHANGED]
    assert kins([checked(1, passed)], [checked(11, passed)]) == [Kin.SAME]


def test_it_has_no_divergence_where_both_did_the_same() -> None:
    found = compare(Path(steps_of([typed(1, "x")])), Path(steps_of([typed(11, "x")])))
    assert found.first_divergence is None
    assert compare(Path([]), Path([])).rows == []


def test_it_stops_at_its_limit_and_counts_the_rest() -> None:
    a, b = steps_of(typed(at, "x") for at in range(1, 9)), steps_of(typed(at, "x") for at in range(20, 24))
    found = compare(Path(a), Path(b), longest=5)
    assert (len(found.rows), found.left_out) == (5, (3, 0))


def test_it_loses_no_step_and_stays_quick() -> None:
    rng = random.Random(5)

    def path(start: int) -> list[Step]:
        return steps_of(click(start + at, rng.randrange(6) * 200, rng.randrange(4) * 200) for at in range(2000))

    a, b = path(1), path(10_000)
    begun = time.process_time()
    rows = compare(Path(a), Path(b)).rows
    assert time.process_time() - begun < 1
    assert [row.a for row in rows if row.a] == a
    assert [row.b for row in rows if row.b] == b


def test_it_sums_up_a_path_without_the_wait_before_a_fork() -> None:
    usage = {"input": 100, "output": 20, "cache_read": 3, "cache_write": 0}
    reply = {"text": "", "reasoning": "", "usage": usage, "cost": 0.25}
    events = [
        event(1, Kind.MESSAGE, actor=Actor.AGENT, name="reply", data=reply),
        click(11, 1, 1),
        click(101, 1, 1, branch="b1"),
        event(102, Kind.MESSAGE, actor=Actor.AGENT, name="reply", data={**reply, "cost": None}, branch="b1"),
        checked(105, Outcome.PASSED, Outcome.FAILED),
    ]
    sums = sums_of(events)
    assert (sums.steps, sums.seconds, sums.tokens, sums.cost) == (2, 11.0, 246, 0.25)
    assert (sums.passed, sums.checks) == (1, 2)
    assert sums_of([]).cost is None
