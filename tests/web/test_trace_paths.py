"""What the page of a trace shows of steps that several branches share, or that are on one of them only."""

import re

import pytest
from django.test import Client

from godhand_web.models import User
from godhand_web.pages.trace_files import tiles
from traces import lifecycle
from traces.events import Actor
from traces.models import Trace
from traces.outline import number_of, read

from .trace_seed import Story, pivot, screen

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture
def trace(owner: User) -> Trace:
    return pivot(owner)


@pytest.mark.parametrize("branch", ["main", "b1", "b2"])
def test_it_has_no_tile_before_the_first_picture_was_taken(trace: Trace, branch: str) -> None:
    path = read(trace.pk).path(branch)
    shas, _ = tiles(trace.pk, branch, path[0].seq, path[-1].seq)
    assert [place for place, sha in enumerate(shas) if sha is None] == [0, 1]
    assert shas[2:9] == tiles(trace.pk, "main", path[2].seq, path[8].seq)[0]


def test_it_carries_no_screen_from_one_branch_to_another(as_owner: Client, owner: User) -> None:
    trace = lifecycle.begin(owner, title="Two at once", meta={})
    main = Story(trace)
    fork = main.click(10, 10, screen(1))
    one, other = Story(trace, "b1", fork), Story(trace, "b2", fork)
    one.click(20, 20, screen(2))
    other.recorder.message(Actor.HUMAN, "Try the menu", turn=0, name="hint")
    one.recorder.message(Actor.HUMAN, "Go on", turn=0, name="hint")
    steps = as_owner.get(f"/traces/{trace.pk}/changes/?after=0").json()["steps"]
    shown = [(step["branch"], step["after"]) for step in steps]
    assert shown == [("main", main.shown), ("b1", one.shown), ("b2", main.shown), ("b1", one.shown)]


def test_it_stays_on_the_branch_of_a_link(as_owner: Client, trace: Trace) -> None:
    path = [step.seq for step in read(trace.pk).path("b2")]
    for seq in read(trace.pk).by_seq:
        page = as_owner.get(f"/traces/{trace.pk}/?step={seq}&branch=b2").content.decode()
        (current,) = re.findall(r'data-seq="(\d+)"[^>]*aria-selected="true"', page)
        assert '<option value="b2" selected>' in page
        assert int(current) == max(one for one in path if one <= seq)


def test_it_leads_to_steps_of_other_branches(as_owner: Client, trace: Trace) -> None:
    page = as_owner.get(f"/traces/{trace.pk}/?step=1&branch=b2&all=1&q=pivot.py").content.decode()
    steps = read(trace.pk).by_seq
    rows = dict(re.findall(r'role="treeitem" aria-level="\d" href="([^"]+)" data-seq="(\d+)"', page))
    assert len(rows) == len(steps)
    for link, seq in rows.items():
        assert ("branch=b2" in link) == (steps[int(seq)] in read(trace.pk).path("b2"))
    assert "branch=b2" not in re.findall(r'<ol><li><a href="([^"]+)"', page)[0]


def test_it_counts_one_step_as_the_whole_trace_counts_it(trace: Trace) -> None:
    outline = read(trace.pk)
    counted = {step.id: number_of(trace.pk, step.branch, step.seq) for step in outline.steps}
    assert counted == outline.numbers
