"""File differences between two heads."""

from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from django.conf import LazySettings
from django.test import Client

from agents.filediff import LARGEST, Found, Line, differences, text_difference
from agents.models import Run
from godhand_web.models import User
from godhand_web.templatetags.branching import visible

from .branch_seed import branched
from .trace_seed import HOSTILE


@pytest.fixture
def run(owner: User, settings: LazySettings, tmp_path: Path) -> Run:
    settings.HOST = SimpleNamespace(home=tmp_path, images=tmp_path / "images", machines=tmp_path / "machines")
    return branched(owner)


def test_it_tells_what_was_added_removed_and_changed() -> None:
    a = {"same": Found("same", 3, 1.5), "gone": Found("gone", 1), "grown": Found("grown", 3, 1.5)}
    b = {"same": Found("same", 3, 1.5), "new": Found("new", 1), "grown": Found("grown", 9, 2.5)}
    told = [(each.path, each.kind, each.grown) for each in differences(a, b)]
    assert told == [("gone", "only a", -1), ("grown", "changed", 6), ("new", "only b", 1)]


def test_it_compares_text_line_by_line() -> None:
    found = text_difference(b"one\ntwo\n", b"one\nthree\n")
    assert found
    assert found.lines[1:] == [Line(" ", "one"), Line("-", "two"), Line("+", "three")]


@pytest.mark.parametrize("data", [b"PK\0\1", b"\xff\xfe", b"x" * (LARGEST + 1), b"\n" * 5000])
def test_it_does_not_compare_what_is_no_text_or_too_much(data: bytes) -> None:
    assert text_difference(data, b"text") is None


def test_it_cuts_what_would_never_end() -> None:
    found = text_difference(b"", b"line\n" * 3000)
    assert found
    assert (len(found.lines), found.cut) == (600, True)


def test_no_name_turns_or_breaks_its_line() -> None:
    assert visible("a\u202egpj.exe\n\x1b[2J") == "a\ufffdgpj.exe\ufffd\ufffd[2J"


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_url", "image")
def test_it_shows_what_two_branches_delivered(as_owner: Client, run: Run) -> None:
    at = f"/traces/{run.trace_id}/merge/?a=b1&b=b2"
    page = as_owner.get(at).content.decode()
    assert 'changed</span><span class="clip">report.csv' in page
    assert "only B</span>" in page
    assert "its machine is stopped" in page.lower()
    assert HOSTILE not in page
    page = as_owner.get(f"{at}&in=delivered&file=report.csv").content.decode()
    assert '<span class="minus">- north,4120' in page
    assert '<span class="plus">+ north,4210' in page
    page = as_owner.get(f"{at}&in=delivered&file={quote(f'notes {HOSTILE}.txt')}").content.decode()
    assert '<span class="plus">+ &quot;' in page
    assert HOSTILE not in page
    assert as_owner.get(f"{at}&in=home&file=../../etc/passwd").status_code == 200
