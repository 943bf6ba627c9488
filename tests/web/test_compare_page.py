import re

import pytest
from django.test import Client

from godhand_web.models import User
from traces import lifecycle
from traces.models import Trace

from .branch_seed import branched
from .example import example_trace, single_branch

pytestmark = pytest.mark.usefixtures("redis_url")


def page_of(client: Client, trace: Trace, query: str = "", status: int = 200) -> str:
    response = client.get(f"/traces/{trace.pk}/compare/{query}")
    assert response.status_code == status, response.content
    return response.content.decode()


def words(page: str) -> list[str]:
    return re.findall(r'<span class="kin">([^<]+)</span>', page)


def test_it_opens_where_two_branches_part(as_owner: Client, owner: User) -> None:
    page = page_of(as_owner, example_trace(owner))
    assert "Both begin with the same" in page
    assert words(page) == ["common", "only A", "only B", "same", "only A", "only B", "only B", "changed"]
    assert re.search(r'data-row="1" aria-current="true"', page)
    assert page.count("data-sentence>Typed “=SUM(B2:B9)”") == 1


def sides(page: str) -> list[str]:
    return re.findall(r'<option value="(\w+)" selected>', page)


def test_it_opens_with_the_winner_and_the_best_that_it_has_not_come_from(as_owner: Client, owner: User) -> None:
    trace = branched(owner).trace
    assert sides(page_of(as_owner, trace)) == ["b2", "b1"]
    assert sides(page_of(as_owner, trace, "?a=b3")) == ["b3", "b2"]
    assert sides(page_of(as_owner, trace, "?b=b2")) == ["b1", "b2"]
    assert sides(page_of(as_owner, trace, "?b=main")) == ["b1", "main"]


def test_it_adds_both_paths_up(as_owner: Client, owner: User) -> None:
    page = page_of(as_owner, example_trace(owner))
    for figure in ("12,384", "$0.048", "1 of 2 passed", "2 of 2 passed", ">same<"):
        assert figure in page


def test_it_compares_with_another_trace(as_owner: Client, owner: User) -> None:
    trace, other = example_trace(owner), single_branch(owner)
    page = page_of(as_owner, trace, f"?a=main&b={other.pk}:")
    assert words(page)[:2] == ["changed", "same"]
    assert f'value="{other.pk}:main" selected' in page
    assert f"/traces/{other.pk}/pictures/" in page


def test_it_shows_the_row_and_the_moment_that_are_asked_for(as_owner: Client, owner: User) -> None:
    page = page_of(as_owner, example_trace(owner), "?a=main&b=b1&row=3&moment=before")
    assert re.search(r'data-row="3" aria-current="true"', page)
    assert re.findall(r'<circle class="under" cx="(\d+)"', page) == ["640", "652"]


@pytest.mark.parametrize("query", ["?row=999", "?row=-1", "?row=²", "?row=x&view=y&moment=z", "?b=b1&a=main"])
def test_it_shrugs_at_nonsense(as_owner: Client, owner: User, query: str) -> None:
    assert re.search(r'data-row="1" aria-current="true"', page_of(as_owner, example_trace(owner), query))


def test_it_says_so_when_both_are_one_branch(as_owner: Client, owner: User) -> None:
    assert "A and B are the same branch." in page_of(as_owner, example_trace(owner), "?a=b1&b=b1")


def test_it_asks_for_another_trace_where_there_is_nothing_to_compare(as_owner: Client, owner: User) -> None:
    other = example_trace(owner)
    page = page_of(as_owner, single_branch(owner))
    assert "<h2>Pick another trace</h2>" in page
    assert f'<option value="{other.pk}:"' in page
    assert "Nothing has happened here yet" in page_of(as_owner, lifecycle.begin(owner, title="Empty", meta={}))
    assert "<h2>Pick another trace</h2>" not in page_of(as_owner, other)


def test_it_has_neither_branches_nor_traces_that_are_not_ones_own(
    as_owner: Client, owner: User, stranger: User, staff: User
) -> None:
    mine, theirs = example_trace(owner), example_trace(stranger, "The secret of the crane")
    copy = Trace.objects.create(owner=owner, title="For a link", meta={}, copy_of=mine.pk)
    for spec in ("nowhere", f"{theirs.pk}:main", f"{theirs.pk}:", f"{mine.pk}:nowhere", f"{copy.pk}:", "nobody:main"):
        page_of(as_owner, mine, f"?a=main&b={spec}", 404)
        page_of(as_owner, mine, f"?a={spec}", 404)
    page = page_of(as_owner, mine)
    assert "crane" not in page
    assert "For a link" not in page
    client = Client()
    client.force_login(staff)
    assert "crane" in page_of(client, mine, f"?b={theirs.pk}:main")
