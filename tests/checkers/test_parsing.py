import re
from typing import Any

import pytest

from agents.errors import BadTask
from agents.verify import parse_check, parse_checks


def file_check(**more: Any) -> dict[str, Any]:
    return {"name": "report", "kind": "file_exists", "path": "a.txt"} | more


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"name": "report"}, "Check 2 (“report”): kind: every check needs one."),
        ({"kind": "file_exist"}, "Check 2: kind: there is no check “file_exist”; did you mean “file_exists”?"),
        ({"kind": ["a"]}, "Check 2: kind: there is no check “['a']”; choose one of command_succeeds, file_contains,"),
        (file_check(pth="b"), "Check 2 (“report”): pth: file_exists has no such option; did you mean “path”?"),
        (file_check(path=7), "Check 2 (“report”): path: must be text."),
        (file_check(path=""), "path: must be text of 1 to 4096 characters."),
        (file_check(path="a\0b"), "path: must have no NUL character in it."),
        (file_check(min_size=True), "min_size: must be a whole number."),
        (file_check(min_size=-1), "min_size: must be from 0"),
        (file_check(min_size=5, max_size=4), "max_size: is less than min_size."),
        (file_check(absent="no"), "absent: must be true or false."),
        (file_check(when="often"), "when: must be one or more of step, done, demand."),
        (file_check(when=[]), "when: must be one or more of"),
        (file_check(when=7), "when: must be one or more of"),
        (file_check(name=" "), "name: must be a line"),
        (file_check(name="a\nb"), "name: must be a line"),
        (file_check(name="first"), "Check 2: name: “first” is the name of another check too."),
        ({"kind": "file_exists"}, "Check 2: path: file_exists needs it."),
        ({"kind": "file_contains", "path": "a"}, "text: say either text or regex."),
        ({"kind": "file_contains", "path": "a", "regex": "(a"}, "regex: is no regular expression ("),
        ({"kind": "file_contains", "path": "a", "text": "b", "encoding": "utf-88"}, "encoding: there is no"),
        ({"kind": "file_contains", "path": "a", "text": "b", "encoding": "base64"}, "encoding: there is no"),
        ({"kind": "file_matches", "path": "a.txt"}, "format: must be one of xlsx, csv, docx, json"),
        ({"kind": "file_matches", "path": "a.csv", "charts": 1}, "charts: means nothing for a csv file."),
        ({"kind": "file_matches", "path": "a.xlsx", "cells": {"2B": 1}}, "cells.2B: must be a cell such as B2"),
        ({"kind": "file_matches", "path": "a.csv", "rows": [1]}, "rows[0]: must be a list"),
        ({"kind": "file_matches", "path": "a.csv", "rows": [[object()]]}, "rows[0][0]: must be text."),
        ({"kind": "command_succeeds"}, "argv: say either argv or bash."),
        ({"kind": "command_succeeds", "argv": "rm -rf"}, "argv: must be a list"),
        ({"kind": "command_succeeds", "argv": ["a", 1]}, "argv[1]: must be text."),
        ({"kind": "command_succeeds", "bash": "a", "timeout": 1e9}, "timeout: must be from 0.1 to 300."),
        ({"kind": "command_succeeds", "bash": "a", "timeout": float("nan")}, "timeout: must be a number."),
        ({"kind": "process_running"}, "program: say program, argv or both."),
        ({"kind": "window_open"}, "title: say title, window_class or both."),
        ({"kind": "http_ok", "url": "file:///etc/passwd"}, "url: must be a whole URL"),
        ({"kind": "http_ok", "url": "-o /etc/passwd"}, "url: must be a whole URL"),
        ({"kind": "http_ok", "url": "http://[/"}, "url: must be a whole URL"),
        ({"kind": "screen_region", "reference": "../a"}, "reference: must be 1 to 64 small letters"),
        ({"kind": "screen_region", "reference": "a", "region": [0, 0, 5]}, "region: must be x, y, width and height"),
        ({"kind": "screen_region", "reference": "a", "region": [0, 0, 5, 0]}, "region: is empty."),
        ({"kind": "screen_region", "reference": "a", "excluded": [[1]]}, "excluded[0]: must be x, y"),
        ({"kind": "screen_changed", "min_ratio": 2}, "min_ratio: must be from 0 to 1."),
        ({"kind": "model_judges", "question": ""}, "question: must be text of 1 to"),
        ("file_exists", "Check 2: A check must be a table"),
    ],
)  # fmt: skip
def test_it_names_the_place_of_a_mistake(table: Any, sentence: str) -> None:
    with pytest.raises(BadTask, match=re.escape(sentence)):
        parse_checks([{"name": "first", "kind": "file_exists", "path": "a"}, table])


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('[[check]]\nkind = "file_exists\n', "not proper TOML: .* line 2"),
        ('[[checks]]\nkind = "file_exists"\n', r"checks: only \[\[check\]\] tables can be here"),
        ("check = 3", r"at most 100 \[\[check\]\] tables"),
        ("[check]\nkind = 'file_exists'", r"at most 100 \[\[check\]\] tables"),
        ("check = [1]", "Check 1: A check must be a table"),
        ("[[check]]\n" * 101, "at most 100"),
    ],
)
def test_it_names_the_mistake_in_toml(toml: str, sentence: str) -> None:
    with pytest.raises(BadTask, match=sentence):
        parse_checks(toml)


def test_it_takes_dates_as_toml_writes_them() -> None:
    toml = '[[check]]\nkind = "file_matches"\npath = "a.xlsx"\ncells = { A1 = 2026-01-31, B1 = 2026-01-31T10:00:00 }'
    [check] = parse_checks(toml)
    assert check.to_json()["cells"] == {"A1": "2026-01-31", "B1": "2026-01-31T10:00:00"}


def test_it_names_a_check_after_its_kind_when_nobody_does() -> None:
    assert parse_check({"kind": "command_succeeds", "argv": ["true"]}).name == "command_succeeds"


def test_it_has_no_checks_where_none_are_written() -> None:
    assert parse_checks("") == ()


def test_it_lets_a_model_check_as_the_desktops_user_only() -> None:
    assert parse_check({"kind": "http_ok", "url": "http://localhost/"})
    with pytest.raises(BadTask, match="user: only a check of the task"):
        parse_check({"kind": "command_succeeds", "argv": ["id"], "user": "root"})
    assert parse_checks([{"kind": "command_succeeds", "argv": ["id"], "user": "root"}])
