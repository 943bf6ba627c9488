"""The page of a trace as the server makes it."""

import re
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client

from godhand_web.models import User
from traces import lifecycle
from traces.events import Kind
from traces.models import Event, Remark, Trace
from traces.outline import read
from traces.thumbs import SHEET

from .trace_seed import HOSTILE, Story, hostile, pivot, running, screen

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture
def trace(owner: User) -> Trace:
    return pivot(owner)


def page_of(client: Client, trace: Trace, query: str = "") -> str:
    response = client.get(f"/traces/{trace.pk}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def current(page: str) -> str:
    found = re.search(r'<a class="node[^>]*data-seq="(\d+)"[^>]*aria-selected="true"', page)
    assert found
    return found[1]


def seq_of(trace: Trace, **facts: Any) -> int:
    return Event.objects.filter(trace=trace, **facts).order_by("-seq").values_list("seq", flat=True)[0]


def test_it_opens_where_something_went_wrong(as_owner: Client, trace: Trace) -> None:
    assert current(page_of(as_owner, trace)) == str(seq_of(trace, branch="main", kind=Kind.VERIFY))


@pytest.mark.parametrize("state", ["succeeded", "running"])
def test_it_opens_at_the_last_step_when_all_is_well(as_owner: Client, trace: Trace, state: str) -> None:
    lifecycle.mark(trace.pk, state, ended=state == "succeeded")
    Event.objects.filter(trace=trace, branch="main", kind=Kind.VERIFY).update(kind=Kind.FORK)
    assert current(page_of(as_owner, trace)) == str(seq_of(trace, branch="main"))


def test_it_opens_at_what_was_done_last_and_not_at_what_was_saved_afterwards(as_owner: Client, trace: Trace) -> None:
    lifecycle.mark(trace.pk, "succeeded", ended=True)
    last = Event.objects.filter(trace=trace, branch="main").order_by("-seq")
    Event.objects.filter(pk=last[0].pk).update(kind=Kind.SNAPSHOT)
    assert current(page_of(as_owner, trace)) == str(last[1].seq)


def test_it_opens_at_the_step_and_branch_of_a_link(as_owner: Client, trace: Trace) -> None:
    click = seq_of(trace, branch="b1", name="click")
    assert current(page_of(as_owner, trace, f"?step={click}")) == str(click)
    page = page_of(as_owner, trace, "?step=1&branch=b1&view=diff&tab=reasoning")
    assert current(page) == "1"
    assert '<option value="b1" selected>' in page
    assert 'data-view="diff" aria-current="true"' in page


@pytest.mark.parametrize("query", ["?step=99999", "?step=x&branch=nowhere&tab=<b>&view=<b>&rows=<b>&open=<b>&all=2"])
def test_it_shows_something_for_every_address(as_owner: Client, trace: Trace, query: str) -> None:
    assert "<b>" not in re.sub("<b>b[12]</b>", "", page_of(as_owner, trace, query))


def test_it_tells_the_reply_with_its_action(as_owner: Client, trace: Trace) -> None:
    reply = Event.objects.filter(trace=trace, name="reply").earliest("seq")
    assert current(page_of(as_owner, trace, f"?step={reply.seq}")) == str(reply.seq + 1)


def test_it_keeps_branches_apart_in_its_outline(trace: Trace) -> None:
    outline = read(trace.pk)
    assert [lane.branch for lane in outline.lanes] == ["main", "b1", "b2"]
    fork = outline.by_seq[seq_of(trace, kind=Kind.SNAPSHOT)]
    assert {lane.forked_at for lane in outline.lanes[1:]} == {fork.id}
    for branch in ("b1", "b2"):
        path = outline.path(branch)
        assert [outline.numbers[step.id] for step in path] == list(range(1, len(path) + 1))
        assert all(after.parent == before.id for before, after in pairwise(path))
        assert path[8].id == fork.id
    assert not any(step.event.name == "reply" for step in outline.steps)


def test_it_folds_straight_runs_and_opens_them(as_owner: Client, trace: Trace) -> None:
    page = page_of(as_owner, trace)
    run = re.search(r'data-open="([\d-]+)"', page)
    assert run
    opened = page_of(as_owner, trace, f"?open={run[1]}")
    assert opened.count('role="treeitem"') > page.count('role="treeitem"')
    everything = page_of(as_owner, trace, "?all=1")
    assert everything.count('role="treeitem"') == len(read(trace.pk).steps)
    part = as_owner.get(f"/traces/{trace.pk}/tree/?open={run[1]}&run=1").content.decode()
    assert part.count(f'data-run="{run[1]}"') == 6


def test_it_shows_at_most_so_many_rows(as_owner: Client, owner: User) -> None:
    trace = lifecycle.begin(owner, title="long", meta={})
    story = Story(trace)
    for number in range(150):
        story.recorder.limit("steps", f"no {number}", allowed=1, used=2)
    page = page_of(as_owner, trace)
    assert page.count('data-seq="') == 120
    earlier = re.search(r'href="([^"]*rows=\d+[^"]*)"', page)
    assert earlier
    assert 'data-seq="1"' in as_owner.get(earlier[1].replace("&amp;", "&")).content.decode()


def test_it_describes_a_path_in_little_room(as_owner: Client, trace: Trace) -> None:
    path = as_owner.get(f"/traces/{trace.pk}/path/?branch=b1").json()
    assert len(path["seqs"]) == len(path["codes"]) == 20
    assert sum(path["seqs"]) == seq_of(trace, branch="b1")
    assert path["forks"] == [8]
    assert path["people"] == [0, 1]
    assert as_owner.get(f"/traces/{trace.pk}/path/?branch=nowhere").status_code == 404


def test_it_tells_steps_with_pictures_and_shapes(as_owner: Client, trace: Trace) -> None:
    drag = seq_of(trace, name="drag")
    (step,) = as_owner.get(f"/traces/{trace.pk}/steps/?seqs={drag}&first=11").json()["steps"]
    assert step["text"] == "Dragged from 300, 240 to 620, 420"
    assert step["size"] == [1280, 800]
    assert step["before"] != step["after"]
    tags = [shape[0] for shape in step["shapes"]["marks"]]
    assert tags == ["polyline", "polyline", "circle", "circle", "circle", "circle", "rect", "text"]
    assert step["shapes"]["marks"][-1][2] == "11"


def test_it_draws_checks_where_they_looked(as_owner: Client, trace: Trace) -> None:
    page = page_of(as_owner, trace)
    assert '<g class="layer checks">' in page
    assert "✗ total_row failed 0.61" in page


def test_it_shows_the_screen_that_was_seen_last(as_owner: Client, trace: Trace) -> None:
    snapshot = seq_of(trace, kind=Kind.SNAPSHOT)
    before, after = as_owner.get(f"/traces/{trace.pk}/steps/?seqs={snapshot - 1},{snapshot}").json()["steps"]
    assert (after["carried"], after["after"]) == (True, before["after"])


def test_it_tells_only_what_changed(as_owner: Client, owner: User) -> None:
    trace = running(owner)
    known = as_owner.get(f"/traces/{trace.pk}/changes/?after=0").json()
    assert len(known["steps"]) == 4
    assert as_owner.get(f"/traces/{trace.pk}/changes/?after={known['revision']}").json()["steps"] == []
    trace.refresh_from_db()
    Story(trace, head=Event.objects.get(trace=trace, seq=trace.next_seq - 1).pk).click(9, 9, screen(2))  # type: ignore[arg-type]
    news = as_owner.get(f"/traces/{trace.pk}/changes/?after={known['revision']}").json()
    assert [step["text"] for step in news["steps"]] == ["Clicked at 9, 9"]
    assert news["live"]
    assert "Running" in news["totals"]


def test_it_finds_steps_without_javascript_too(as_owner: Client, trace: Trace) -> None:
    found = as_owner.get(f"/traces/{trace.pk}/search/?q=type:drag").json()
    assert (found["count"], found["hits"]) == (1, [[seq_of(trace, name="drag"), "main"]])
    assert as_owner.get(f"/traces/{trace.pk}/search/?q=invoice").json()["count"] > 0
    assert "1</span> hit for “type:drag”" in page_of(as_owner, trace, "?q=type:drag")


def test_it_serves_pictures_of_its_own_only(as_owner: Client, owner: User, trace: Trace) -> None:
    other = running(owner)
    sha256 = Event.objects.filter(trace=trace, branch="b1").exclude(after="").latest("seq").after
    answer = as_owner.get(f"/traces/{trace.pk}/pictures/{sha256}")
    assert answer.headers["Content-Type"] == "image/webp"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert as_owner.get(f"/traces/{trace.pk}/thumbs/{sha256}.webp").content[8:12] == b"WEBP"
    for kind in ("pictures/{}", "thumbs/{}.webp"):
        assert as_owner.get(f"/traces/{other.pk}/{kind.format(sha256)}").status_code == 404


def test_it_puts_the_small_pictures_of_a_path_on_sheets(as_owner: Client, trace: Trace) -> None:
    at = f"/traces/{trace.pk}/sheets/1-{seq_of(trace, branch='b1')}.webp?branch=b1"
    sheet = as_owner.get(at)
    assert sheet.content[8:12] == b"WEBP"
    assert sheet.headers["Cache-Control"] == "private, no-cache"
    assert as_owner.get(at, headers={"If-None-Match": sheet.headers["ETag"]}).status_code == 304
    assert as_owner.get(at.replace("b1", "nowhere")).status_code == 404
    assert len(read(trace.pk).path("b1")) <= SHEET


def test_it_gives_files_away_as_attachments(as_owner: Client, trace: Trace) -> None:
    answer = as_owner.get(f"/traces/{trace.pk}/files/{seq_of(trace, branch='main', kind=Kind.FILE)}/")
    assert b"".join(answer.streaming_content).startswith(b"region,month")  # type: ignore[attr-defined]
    assert answer.headers["Content-Disposition"] == 'attachment; filename="sales.csv"'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert as_owner.get(f"/traces/{trace.pk}/files/1/").status_code == 404


@pytest.mark.parametrize(
    ("tab", "text"),
    [
        ("action", "changed by"),
        ("reasoning", "This is the way to go on."),
        ("observation", "Quarterly invoice of the north"),
        ("model", "&quot;role&quot;: &quot;assistant&quot;"),
        ("files", "region,month,sum"),
        ("notes", "Nobody has written anything"),
    ],
)
def test_it_has_a_tab_for_all_that_is_known(as_owner: Client, trace: Trace, tab: str, text: str) -> None:
    click = seq_of(trace, branch="b1", name="click")
    assert text in page_of(as_owner, trace, f"?step={click}&tab={tab}")
    assert text in as_owner.get(f"/traces/{trace.pk}/steps/{click}/?tab={tab}").content.decode()


def test_it_speaks_of_an_outcome_only_where_there_is_one(as_owner: Client, trace: Trace) -> None:
    click = seq_of(trace, branch="b1", name="click")
    assert "<dt>Outcome</dt>" in page_of(as_owner, trace, f"?step={click}")
    for name in ("goal", "takeover"):
        assert "<dt>Outcome</dt>" not in page_of(as_owner, trace, f"?step={seq_of(trace, name=name)}")


def test_it_tells_what_was_new_in_a_request(as_owner: Client, trace: Trace) -> None:
    first = Event.objects.filter(trace=trace, branch="b2", kind=Kind.ACTION).earliest("seq").seq
    detail = as_owner.get(f"/traces/{trace.pk}/steps/{first}/?tab=model").content.decode()
    assert "answer to click" in detail


def test_it_keeps_notes_and_lets_their_authors_delete_them(
    as_owner: Client, staff: User, trace: Trace, client: Client
) -> None:
    add = f"/traces/{trace.pk}/steps/1/remarks/"
    page = as_owner.post(add, {"text": "Look <here>"}, follow=True).content.decode()
    assert "Look &lt;here&gt;" in page
    remark = Remark.objects.get()
    client.force_login(staff)
    delete = f"/traces/{trace.pk}/remarks/{remark.pk}/delete/"
    assert client.post(delete).status_code == 404
    as_owner.post(delete)
    for text in ("", "x" * 4001):
        as_owner.post(add, {"text": text})
    assert not Remark.objects.exists()


@pytest.mark.parametrize("tab", ["action", "reasoning", "observation", "model", "files", "notes"])
def test_it_shows_hostile_text_as_text(as_owner: Client, owner: User, tab: str) -> None:
    trace = hostile(owner)
    for seq in Event.objects.filter(trace=trace).values_list("seq", flat=True):
        page = page_of(as_owner, trace, f"?step={seq}&tab={tab}&all=1")
        assert HOSTILE not in page
        assert "<img src=x" not in page
        assert "<script>alert" not in page


def test_it_says_so_when_nothing_has_happened(as_owner: Client, owner: User) -> None:
    trace = lifecycle.begin(owner, title="Just begun", meta={})
    assert "Nothing has happened yet" in page_of(as_owner, trace)


def test_it_lists_traces_by_title_and_state(as_owner: Client, owner: User, trace: Trace) -> None:
    running(owner)
    assert "Still going on" not in as_owner.get("/traces/?q=PIVOT").content.decode()
    assert "Pivot the sales" in as_owner.get("/traces/?q=PIVOT").content.decode()
    assert "Pivot the sales" not in as_owner.get("/traces/?state=running").content.decode()
    assert "No title has “zebra” in it" in as_owner.get("/traces/?q=zebra").content.decode()


def test_it_teaches_who_has_no_trace(as_owner: Client) -> None:
    assert "Every run leaves a trace" in as_owner.get("/traces/").content.decode()
