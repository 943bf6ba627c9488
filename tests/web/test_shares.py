"""Links to traces: what their makers do, and what strangers see."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from http.cookies import Morsel
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from godhand_web.models import AuditEntry, User
from godhand_web.qr import square
from godhand_web.urls import urlpatterns
from traces import jobs, queries, shares
from traces.doers import WORK
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Event, Job, Share, Trace
from traces.pictures import Masked
from traces.safe import Redaction
from traces.steps import steps_of

from .example import example_trace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

TITLE = "Pivot the sales sheet for ann@example.org"
FORM = {"what": "all", "words": "pandas", "patterns": "on", "branch": "main"}
Linked = Callable[..., tuple[Share, str]]


@pytest.fixture(autouse=True)
def _home(settings: LazySettings, tmp_path: Path) -> None:
    settings.HOST = SimpleNamespace(home=tmp_path, run=tmp_path)
    settings.EXPORTS = tmp_path / "exports"


@pytest.fixture
def trace(owner: User) -> Trace:
    return example_trace(owner, TITLE)


@pytest.fixture
def linked(trace: Trace) -> Linked:
    """A link to the trace, and its token."""

    def link(*, live: bool = False, downloads: bool = False, most_views: int | None = None) -> tuple[Share, str]:
        share = shares.draft(trace.owner, trace, Scope(), live=live, downloads=downloads)
        if live:
            Trace.objects.filter(pk=trace.pk).update(ended_at=None, state="running")
        else:
            shares.fill(share, Redaction(Hider(["pandas"]), Masked, files=downloads))
        token = shares.issue(share, timezone.now() + timedelta(days=7), most_views)
        assert token
        share.refresh_from_db()
        return share, token

    return link


def visited(token: str) -> Client:
    client = Client()
    assert client.get(f"/s/{token}/").status_code == 302
    return client


def text(response: Any) -> str:
    return response.content.decode()  # type: ignore[no-any-return]


# The maker


def test_it_makes_a_copy_shows_what_is_hidden_and_then_the_link_once(as_owner: Client, trace: Trace) -> None:
    response = as_owner.post(f"/traces/{trace.pk}/share/", FORM)
    share = Share.objects.get()
    assert response.headers["Location"] == f"/shares/{share.pk}/"
    assert "Waiting for a worker" in text(as_owner.get(f"/shares/{share.pk}/"))
    jobs.run(Job.objects.get().pk, WORK)
    preview = text(as_owner.get(f"/shares/{share.pk}/"))
    assert "words" in preview
    assert "e-mail addresses" in preview
    seen = text(as_owner.get(f"/shared/{share.pk}/"))
    assert "Pivot the sales sheet for [hidden]" in seen
    assert "ann@example.org" not in seen
    assert "Recorded" not in seen
    made = as_owner.post(f"/shares/{share.pk}/issue/", {"lifetime": "7d", "most_views": "3"})
    (token,) = re.findall(r"/s/(gh_share_[\w-]{32})/", text(made))
    assert "no-store" in made.headers["Cache-Control"]
    assert square(f"http://testserver/s/{token}/").path in text(made)
    assert token not in text(as_owner.get(f"/shares/{share.pk}/"))
    assert as_owner.post(f"/shares/{share.pk}/issue/", {"lifetime": "7d"}).status_code == 302
    assert visited(token).get(f"/shared/{share.pk}/").status_code == 200


def test_it_keeps_the_words_of_the_dialog_from_everybody(as_owner: Client, trace: Trace) -> None:
    as_owner.post(f"/traces/{trace.pk}/share/", {**FORM, "words": "Blue Heron Ltd\nhunter2hunter2"})
    stored = json.dumps(Job.objects.get().options)
    assert "Heron" not in stored
    assert "hunter2" not in stored


def sentences(trace: Trace) -> list[str]:
    head = queries.head_of(trace.pk, "main")
    assert head
    return [step.sentence for step in steps_of(queries.path_events(trace.pk, head))]


def test_it_shares_some_steps_of_a_branch_with_a_part_of_the_screen_hidden(as_owner: Client, trace: Trace) -> None:
    form = {"what": "range", "branch": "main", "first": 3, "last": 5}
    as_owner.post(f"/traces/{trace.pk}/share/", {**form, "parts": "0 0 1280 40\n10,10,20,20"})
    jobs.run(Job.objects.get().pk, WORK)
    share = Share.objects.get()
    assert share.copy is not None, Job.objects.get().detail
    assert sentences(share.copy) == sentences(trace)[2:5]
    assert share.report["pictures"] > 1
    assert "branch main, steps 3 to 5" in text(as_owner.get(f"/shares/{share.pk}/"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"what": "live"}, "nothing live to show"),
        ({"what": "nonsense"}, "nonsense"),
        ({"what": "branch", "branch": "nowhere"}, "nowhere"),
        ({"what": "range", "first": "9", "last": "3"}, "choose steps from 1 to 7"),
        ({"what": "range", "last": "80"}, "choose steps from 1 to 7"),
        ({"parts": "1 2 3"}, "four whole numbers"),
        ({"parts": "0 0 1281 10"}, "does not fit"),
        ({"words": "\n".join(map(str, range(300)))}, "at most 200"),
    ],
)
def test_it_says_what_is_wrong_in_the_dialog(as_owner: Client, trace: Trace, change: dict[str, str], says: str) -> None:
    response = as_owner.post(f"/traces/{trace.pk}/share/", {**FORM, **change})
    assert response.status_code == 400
    assert says in text(response)
    assert not Share.objects.exists()


@pytest.mark.parametrize(
    "form", [{"lifetime": "date"}, {"lifetime": "date", "until": "2020-01-01"}, {"lifetime": "9y"}, {"most_views": "0"}]
)
def test_it_says_what_is_wrong_with_its_life(as_owner: Client, trace: Trace, form: dict[str, str]) -> None:
    share = shares.draft(trace.owner, trace, Scope())
    shares.fill(share, Redaction(Hider([]), Masked))
    assert as_owner.post(f"/shares/{share.pk}/issue/", {"lifetime": "1h", **form}).status_code == 400
    assert shares.find(share.pk) is None


def test_it_lists_revokes_and_revokes_all(as_owner: Client, linked: Linked) -> None:
    (one, token), (_, other) = linked(), linked()
    visited(token)
    listed = text(as_owner.get("/shares/"))
    assert listed.count("Pivot the sales sheet for [hidden]") >= 2
    assert 'All <span class="num">2</span> open links' in listed
    as_owner.post(f"/shares/{one.pk}/revoke/")
    assert Client().get(f"/s/{token}/").status_code == 404
    as_owner.post("/shares/revoke/")
    assert Client().get(f"/s/{other}/").status_code == 404
    assert "Revoked" in text(as_owner.get("/shares/"))


def test_it_discards_a_draft_and_cancels_its_copying(as_owner: Client, trace: Trace) -> None:
    as_owner.post(f"/traces/{trace.pk}/share/", FORM)
    share = Share.objects.get()
    as_owner.post(f"/shares/{share.pk}/discard/")
    jobs.run(Job.objects.get().pk, WORK)
    assert not Share.objects.exists()
    assert list(Trace.objects.all()) == [trace]


# Strangers


def test_it_exchanges_the_token_for_a_pass_and_a_clean_address(linked: Linked) -> None:
    share, token = linked()
    response = Client().get(f"/s/{token}/")
    assert response.headers["Location"] == f"/shared/{share.pk}/"
    (cookie,) = response.cookies.values()
    assert isinstance(cookie, Morsel)
    assert cookie["path"] == f"/shared/{share.pk}/"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert token not in cookie.value
    assert share.token_hash not in cookie.value


def test_it_tells_nobody_where_its_visitors_come_from(linked: Linked) -> None:
    share, token = linked()
    client = Client()
    for address in (f"/s/{token}/", f"/shared/{share.pk}/", "/s/wrong/", f"/shared/{share.pk}/path/?branch=main"):
        headers = client.get(address).headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in headers["X-Robots-Tag"]
        assert "no-store" in headers["Cache-Control"]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_it_answers_everything_that_is_wrong_alike(linked: Linked, as_owner: Client) -> None:
    share, token = linked()
    dead, dead_token = linked()
    shares.revoke(dead)
    old, old_token = linked()
    Share.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    used, used_token = linked(most_views=1)
    visited(used_token)
    stranger = visited(token)
    wrong = [f"/s/{one}/" for one in ("x", token[:-1], token.lower(), dead_token, old_token, used_token)]
    wrong += [f"/shared/{one}/" for one in ("nowhere", dead.pk, old.pk, used.pk)]
    wrong += [f"/shared/{share.pk}/pictures/{'0' * 64}", f"/shared/{share.pk}/steps/99999/"]
    answers = [stranger.get(address) for address in wrong]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert len({tuple(sorted(answer.headers.items())) for answer in answers}) == 1


def test_it_lets_nobody_in_with_a_pass_that_was_changed_or_is_of_another_link(linked: Linked) -> None:
    (one, token), (other, _) = linked(), linked()
    client = visited(token)
    (name,) = [name for name in client.cookies if "share" in name]
    value = client.cookies[name].value
    client.cookies[name.replace(one.pk, other.pk)] = value
    assert client.get(f"/shared/{one.pk}/").status_code == 200
    assert client.get(f"/shared/{other.pk}/").status_code == 404
    client.cookies[name] = f"{value[:-2]}xx"
    assert client.get(f"/shared/{one.pk}/").status_code == 404


def test_it_ends_a_visit_when_it_is_revoked(linked: Linked) -> None:
    share, token = linked()
    client = visited(token)
    shares.revoke(share)
    assert client.get(f"/shared/{share.pk}/").status_code == 404


def test_it_counts_a_visitor_once(linked: Linked) -> None:
    share, token = linked(most_views=2)
    client = visited(token)
    for _ in range(3):
        client.get(f"/s/{token}/")
        client.get(f"/shared/{share.pk}/")
        client.head(f"/s/{token}/")
    Client().head(f"/s/{token}/")
    share.refresh_from_db()
    assert share.views == 1
    (entry,) = AuditEntry.objects.filter(what="opened a link")
    assert (entry.kind, entry.thing, entry.person) == ("share", share.pk, None)


def test_it_opens_nothing_else(linked: Linked, trace: Trace, owner: User) -> None:
    share, token = linked()
    client = visited(token)
    foreign = example_trace(owner, "Another one")
    own = set(share.copy.references.values_list("blob_id", flat=True))  # type: ignore[union-attr]
    theirs = Event.objects.filter(trace=foreign).exclude(after="").exclude(after__in=own)
    assert own
    for sha256 in own:
        assert client.get(f"/shared/{share.pk}/pictures/{sha256}").status_code == 200
    for event in theirs:
        assert client.get(f"/shared/{share.pk}/pictures/{event.after}").status_code == 404
    for address in ("/", "/traces/", f"/traces/{trace.pk}/", f"/traces/{share.copy_id}/", "/shares/"):
        assert client.get(address).headers["Location"].startswith("/login/")


def test_it_is_in_no_list_of_traces(as_owner: Client, linked: Linked) -> None:
    share, _ = linked()
    assert str(share.copy_id) not in text(as_owner.get("/traces/"))
    assert as_owner.get(f"/traces/{share.copy_id}/").status_code == 404


def test_it_answers_everything_that_the_page_of_a_trace_asks_for(linked: Linked) -> None:
    below = {name: {str(each.pattern)[len(root) :] for each in urlpatterns if str(each.pattern).startswith(root)}
             for name, root in (("trace", "traces/<str:trace_id>/"), ("shared", "shared/<str:share_id>/"))}  # fmt: skip
    only_mine = ("share/", "keep/", "delete/", "compare/", "export/", "fork/", "merge/", "branches/", "remarks/")
    mine = (*only_mine, "steps/<int:seq>/remarks/", "steps/<int:seq>/reference/")
    asked = {address for address in below["trace"] if not address.startswith(mine)}
    assert asked <= below["shared"]
    share, token = linked()
    client = visited(token)
    for name, query in (
        ("path", "branch=b1"),
        ("steps", "seqs=1,3"),
        ("tree", ""),
        ("changes", "after=0"),
        ("search", "q=x"),
    ):
        assert client.get(f"/shared/{share.pk}/{name}/?{query}").status_code == 200, name
    assert "[hidden] instead" in text(client.get(f"/shared/{share.pk}/tree/?all=1"))


@pytest.mark.parametrize("downloads", [True, False])
def test_it_hands_files_out_only_when_its_maker_allowed_it(linked: Linked, downloads: bool) -> None:
    share, token = linked(downloads=downloads)
    seq = Event.objects.get(trace=share.copy_id, kind="file").seq
    client = visited(token)
    assert client.get(f"/shared/{share.pk}/files/{seq}/").status_code == (200 if downloads else 404)
    shown = text(client.get(f"/shared/{share.pk}/steps/{seq}/?tab=files"))
    assert ("Download" in shown) == downloads


def test_it_makes_the_file_of_a_copy_once_for_all_who_take_it(linked: Linked) -> None:
    share, token = linked(downloads=True)
    client, take = visited(token), f"/shared/{share.pk}/take/"
    assert text(client.get(take)).count("Make it") == 2
    assert client.post(take, {"kind": "zip"}).headers["Location"] == take
    client.post(take, {"kind": "zip"})
    job = Job.objects.get()
    assert "Waiting" in text(client.get(take))
    jobs.run(job.pk, WORK)
    assert 'href="?kind=zip"' in text(client.get(take))
    file = client.get(f"{take}?kind=zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(file.streaming_content))) as bundle:  # type: ignore[attr-defined]
        inside = b"".join(bundle.read(name) for name in bundle.namelist() if name.endswith((".json", ".jsonl")))
    assert file.headers["Content-Disposition"].startswith("attachment")
    assert (b"[hidden]" in inside, b"pandas" in inside) == (True, False)


def test_nobody_takes_a_copy_that_its_maker_did_not_hand_out(linked: Linked) -> None:
    share, token = linked(downloads=False)
    client = visited(token)
    assert client.get(f"/shared/{share.pk}/take/").status_code == 404
    assert client.post(f"/shared/{share.pk}/take/", {"kind": "zip"}).status_code == 404
    assert not Job.objects.exists()


def test_it_shows_a_run_live_without_what_was_never_made_safe(linked: Linked, trace: Trace, owner: User) -> None:
    share, token = linked(live=True)
    event = Event.objects.filter(trace=trace, kind="action").first()
    assert event
    event.remarks.create(author=owner, text="A private note.")
    client = visited(token)
    assert '"live": true' in text(client.get(f"/shared/{share.pk}/"))
    shown = [
        text(client.get(f"/shared/{share.pk}/steps/{event.seq}/?tab={tab}")) for tab in ("notes", "model", "files")
    ]
    assert "A private note." not in shown[0]
    assert '"content"' not in shown[1]
    assert "Download" not in shown[2]
    file = Event.objects.get(trace=trace, kind="file")
    assert client.get(f"/shared/{share.pk}/files/{file.seq}/").status_code == 404
    assert '"live": true' in text(client.get(f"/shared/{share.pk}/changes/?after=0"))
    Trace.objects.update(ended_at=timezone.now())
    assert client.get(f"/shared/{share.pk}/changes/?after=0").status_code == 404


def test_it_grows_tired_of_wrong_tokens_but_not_of_right_ones(linked: Linked) -> None:
    _, token = linked()
    client = Client(REMOTE_ADDR="192.0.2.7")
    codes = [client.get(f"/s/gh_share_{number:032}/").status_code for number in range(40)]
    assert codes[0] == 404
    assert codes[-1] == 429
    assert Client(REMOTE_ADDR="192.0.2.7").get(f"/s/{token}/").status_code == 302
    assert Client(REMOTE_ADDR="192.0.2.8").get("/s/wrong/").status_code == 404


def test_it_has_no_socket(linked: Linked) -> None:
    share, token = linked(live=True)
    assert 'data-socket=""' in text(visited(token).get(f"/shared/{share.pk}/"))
    assert reverse("shared", args=[share.pk]) == f"/shared/{share.pk}/"
