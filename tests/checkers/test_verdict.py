import json
from typing import Any

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.registry import catalogue, kinds
from agents.verify import Check, Moment, Verdict, due, from_json, parse_checks, to_json, verify
from sandboxes.guest.client import Guest

from .scenes import Still, checker, drawn

GOOD = Finding(Outcome.PASSED, "It is there.", "It is there.")
BAD = Finding(Outcome.FAILED, "B2 is 12.", "B2 is 13.")
UNKNOWN = Finding(Outcome.ERRORED, "It is there.", "It could not be checked.", detail="The machine does not answer.")

ONE_OF_EACH: dict[str, dict[str, Any]] = {
    "command_succeeds": {"argv": ["true"]},
    "file_contains": {"path": "a", "text": "b"},
    "file_exists": {"path": "a"},
    "file_matches": {"path": "a.xlsx"},
    "http_ok": {"url": "http://localhost/"},
    "model_judges": {"question": "Is it?"},
    "process_running": {"program": "openbox"},
    "screen_changed": {},
    "screen_region": {"reference": "a"},
    "screen_text": {"text": "hello"},
    "window_open": {"title": "hello"},
}


def test_it_passes_only_when_everything_did() -> None:
    assert Verdict({"a": GOOD, "b": GOOD}).passed
    assert not Verdict({"a": GOOD, "b": BAD}).passed
    assert not Verdict({"a": GOOD, "b": UNKNOWN}).passed


def test_it_does_not_pass_without_evidence() -> None:
    assert not verify([], Still()).passed


def test_it_never_counts_an_errored_check_as_failed() -> None:
    verdict = Verdict({"a": UNKNOWN, "b": BAD, "c": UNKNOWN, "d": GOOD})
    assert verdict.failed == ("b",)
    assert verdict.errored == ("a", "c")


def test_it_tells_the_model_what_is_different_and_what_is_unknown() -> None:
    verdict = Verdict({"total": BAD, "window": UNKNOWN, "file": GOOD})
    assert verdict.difference().splitlines() == [
        "These checks failed:",
        "- total: expected: B2 is 12. Actual: B2 is 13.",
        "These could not be checked, which is no fault of yours:",
        "- window: The machine does not answer.",
    ]
    assert Verdict({"file": GOOD}).difference() == ""


def test_it_has_one_file_for_each_kind() -> None:
    assert set(kinds()) == set(ONE_OF_EACH)
    assert all(found.kind == kind for kind, found in kinds().items())


def test_it_describes_every_kind_to_a_model() -> None:
    lines = catalogue().splitlines()
    assert [line.partition("(")[0] for line in lines] == list(kinds())
    assert "file_exists(path, min_size?, max_size?, absent?): A regular file" in catalogue()
    assert "command_succeeds(argv[]?, bash?, exit_code?, stdout?, timeout?): " in catalogue()
    assert "cells{}?, sheet?, sheets[]?, charts?, headers[]?, rows[][]?, columns{}[]?" in catalogue()
    assert "screen_changed(min_ratio?, max_ratio?, region[4]?, ignore[][4]?): " in catalogue()


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_it_cannot_check_what_is_gone(kind: str) -> None:
    """And no check is broken by it."""
    finding = checker(kind, **ONE_OF_EACH[kind]).check(Still(before=drawn()))
    assert finding.outcome is Outcome.ERRORED
    assert finding.detail
    assert "is broken" not in finding.detail


def test_it_survives_a_check_that_is_broken() -> None:
    class Broken(Still):
        def guest(self) -> Guest:
            raise KeyError("surprise")

    finding = checker("file_exists", path="a").check(Broken())
    assert finding.outcome is Outcome.ERRORED
    assert "The check file_exists is broken (KeyError" in finding.detail


def test_it_goes_through_json_unchanged() -> None:
    tables: list[dict[str, Any]] = [{"name": kind, "kind": kind, **options} for kind, options in ONE_OF_EACH.items()]
    tables.append(
        {"kind": "screen_region", "name": "r", "reference": "a", "region": [1, 2, 3, 4], "excluded": [[0, 0, 1, 1]]}
    )
    tables.append({"kind": "file_matches", "name": "m", "path": "a.csv", "rows": [["a", 1]], "columns": {"b": [1.5]}})
    checks = parse_checks(tables)
    assert from_json(json.loads(json.dumps(to_json(checks)))) == checks


def test_it_gives_findings_as_json() -> None:
    [finding] = verify(parse_checks([{"kind": "screen_changed"}]), Still(drawn(), drawn())).findings.values()
    told = json.loads(json.dumps(finding.to_json()))
    assert told["outcome"] == "failed"
    assert told["region"] is None
    assert told["similarity"] == 1.0


def test_it_knows_which_checks_are_due() -> None:
    checks = parse_checks(
        [
            {"name": "a", "kind": "file_exists", "path": "a"},
            {"name": "b", "kind": "file_exists", "path": "a", "when": "step"},
            {"name": "c", "kind": "file_exists", "path": "a", "when": ["step", "done", "demand"]},
        ]
    )

    def names(checks: tuple[Check, ...]) -> list[str]:
        return [check.name for check in checks]

    assert names(due(checks, Moment.DONE)) == ["a", "c"]
    assert names(due(checks, Moment.STEP)) == ["b", "c"]
    assert names(due(checks, Moment.DEMAND)) == ["c"]
