import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.utils import timezone

from godhand_web.models import User
from traces import jobs, shares
from traces.doers import WORK
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Job, JobState, Share, Trace
from traces.pictures import Masked
from traces.safe import Redaction

from .conftest import RecorderOf
from .copying import WORD, story

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]

WEEK = timedelta(days=7)
Linked = Callable[..., tuple[Share, str]]


@pytest.fixture
def drafted(trace: Trace, recorder_of: RecorderOf, settings: LazySettings, tmp_path: Path) -> Share:
    settings.HOST = SimpleNamespace(home=tmp_path)
    story(recorder_of)
    share = shares.draft(trace.owner, trace, Scope())
    shares.fill(share, Redaction(Hider([WORD]), Masked))
    return share


@pytest.fixture
def linked(drafted: Share) -> Linked:
    def link(most_views: int | None = None, lifetime: timedelta = WEEK) -> tuple[Share, str]:
        token = shares.issue(drafted, timezone.now() + lifetime, most_views)
        assert token
        return drafted, token

    return link


def test_it_opens_by_its_token_alone(linked: Linked) -> None:
    share, token = linked()
    opened = shares.open_by(token)
    assert opened == share
    assert shares.shown(share) == share.copy
    assert WORD not in repr(list(opened.copy.events.values("data")))  # type: ignore[union-attr]


def test_it_stores_nothing_that_opens_it(linked: Linked) -> None:
    _, token = linked()
    prefix, secret = token[:9], token[9:]
    assert prefix == "gh_share_"
    assert len(secret) == 32
    assert secret not in repr(list(Share.objects.values()))


def test_it_makes_tokens_that_nobody_guesses() -> None:
    tokens = {shares.new_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(len(set(token[9:])) > 10 for token in tokens)


@pytest.mark.parametrize("wrong", ["", "gh_share_", "gh_share_" + "A" * 32, "x" * 5000, "\udcff", "é"])
def test_it_opens_by_no_other_token(linked: Linked, wrong: str) -> None:
    _, token = linked()
    for other in (wrong, token[:-1], token + "A", token.swapcase(), f" {token}"):
        assert shares.open_by(other) is None


def test_it_is_nobodys_before_it_is_issued(drafted: Share) -> None:
    assert shares.find(drafted.pk) is None
    assert list(shares.of(drafted.owner)) == []


def test_it_is_issued_once(linked: Linked) -> None:
    share, token = linked()
    assert shares.issue(share, timezone.now() + WEEK) is None
    assert shares.open_by(token) == share


def test_it_counts_views_and_when_it_was_seen(linked: Linked) -> None:
    share, token = linked()
    shares.open_by(token)
    shares.open_by(token)
    share.refresh_from_db()
    assert share.views == 2
    assert share.seen_at is not None


def test_it_is_opened_no_more_often_than_it_may_be(linked: Linked) -> None:
    share, token = linked(most_views=2)
    assert [bool(shares.open_by(token)) for _ in range(4)] == [True, True, False, False]
    assert shares.find(share.pk) == share
    share.refresh_from_db()
    assert shares.ended(share) == "used up"


def test_it_ends_when_it_expires(linked: Linked) -> None:
    share, token = linked(lifetime=timedelta(seconds=-1))
    assert shares.open_by(token) is None
    assert shares.find(share.pk) is None
    assert shares.ended(share) == "expired"


def test_it_ends_when_it_is_revoked(linked: Linked) -> None:
    share, token = linked()
    assert shares.revoke(share)
    assert not shares.revoke(share)
    assert shares.open_by(token) is None
    assert shares.find(share.pk) is None


def test_it_revokes_all_of_one_person_and_of_nobody_else(linked: Linked, stranger: User) -> None:
    share, token = linked()
    assert shares.revoke_all(stranger) == 0
    assert shares.open_by(token) == share
    assert shares.revoke_all(share.owner) == 1
    assert shares.open_by(token) is None


def test_it_shows_a_run_live_until_that_ends(trace: Trace) -> None:
    share = shares.draft(trace.owner, trace, Scope(), live=True, downloads=True)
    token = shares.issue(share, timezone.now() + WEEK)
    assert token
    assert shares.shown(share) == trace
    assert not share.downloads
    assert shares.open_by(token) == share
    Trace.objects.update(ended_at=timezone.now())
    assert shares.open_by(token) is None
    assert shares.find(share.pk) is None


def test_it_never_shows_the_source_in_the_place_of_a_copy_that_is_gone(linked: Linked) -> None:
    share, token = linked()
    assert share.copy
    share.copy.delete()
    share.refresh_from_db()
    assert share.source is not None
    assert shares.shown(share) is None
    assert shares.open_by(token) is None


def test_it_forgets_a_draft_with_its_copy(drafted: Share) -> None:
    shares.discard(drafted)
    assert list(Share.objects.all()) == []
    assert list(Trace.objects.exclude(copy_of="")) == []


def test_it_discards_no_link_that_was_issued(linked: Linked) -> None:
    share, token = linked()
    shares.discard(share)
    assert shares.open_by(token) == share


def test_it_knows_which_copies_nobody_can_open_any_more(linked: Linked) -> None:
    share, _ = linked()
    assert list(shares.leftover()) == []
    shares.revoke(share)
    assert list(shares.leftover()) == [share.copy]


def test_it_tells_the_log_who_made_opened_and_revoked_it(linked: Linked, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "godhand.audit"):
        share, token = linked()
        shares.open_by(token)
        shares.revoke(share)
    lines = [record.getMessage() for record in caplog.records if record.name == "godhand.audit"]
    assert [line.split()[0] for line in lines] == ["share_created", "share_viewed", "share_revoked"]
    assert all(f"share={share.pk} trace={share.source_id}" in line for line in lines)
    assert token not in "".join(lines)


def test_it_is_copied_by_a_job_and_anew_when_the_first_worker_died(
    trace: Trace, drafted: Share, settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EXPORTS = tmp_path / "exports"
    settings.TRACE_REDACTION = f"{__name__}.redaction_of"
    half = drafted.copy
    job = shares.request(drafted, "sealed words")
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.detail
    drafted.refresh_from_db()
    assert drafted.copy is not None
    assert drafted.copy.pk == job.result != (half and half.pk)
    assert Trace.objects.exclude(copy_of="").count() == 1
    assert drafted.report == {"words": 7, "mails": 4, "files": 1}


def redaction_of(trace: Trace, sealed: str) -> Redaction:
    assert sealed == "sealed words"
    return Redaction(Hider([WORD]), Masked)


def test_it_says_why_there_is_no_copy(trace: Trace, settings: LazySettings, tmp_path: Path) -> None:
    settings.EXPORTS = tmp_path / "exports"
    settings.TRACE_REDACTION = f"{__name__}.redaction_of"
    share = shares.draft(trace.owner, trace, Scope())
    jobs.run(shares.request(share, "sealed words").pk, WORK)
    job = Job.objects.get()
    assert job.state == JobState.FAILED
    assert job.detail == "There is nothing in this part of the trace."
