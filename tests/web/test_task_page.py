"""A run's page: what it says of who drives, what it used, what came of it; and what one can do to a run."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents import api, lifecycle
from agents.endings import PAUSED
from agents.models import Branch, Note, Run, State, Wish
from agents.states import STEPWISE
from agents.wanted import wanted
from godhand_web.models import User
from godhand_web.pages.task import TABS
from godhand_web.pages.task_doing import PRESENT, present
from godhand_web.pages.task_stages import stages, usual_seconds
from sandboxes.models import Event, Machine
from traces.events import Actor

from .conftest import SnapshotOf
from .task_rows import QUESTION, USAGE, child_of, deliver, machine_of, recorder_of, run_in, settle

pytestmark = pytest.mark.usefixtures("redis_url", "image")

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
Said = Callable[[str], str]


def at(run: Run, rest: str = "") -> str:
    return f"/tasks/{run.task_id}/runs/{run.pk}/{rest}"


def text(client: Client, run: Run, rest: str = "") -> str:
    response = client.get(at(run, rest))
    assert response.status_code == 200
    return response.content.decode()


def branch_of(run: Run) -> Branch:
    return Branch.objects.get(run=run)


def told(client: Client, run: Run, verb: str, **fields: str) -> str:
    """What the page says after that."""
    response = client.post(at(run, f"{verb}/"), fields, follow=True)
    assert response.redirect_chain == [(at(run), 302)]
    return " ".join(str(message) for message in response.context["messages"])


def test_it_says_who_drives_and_what_it_does(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=4)
    view = as_owner.get(at(run)).context["view"]
    assert view.doing.who == "Agent is driving"
    assert view.doing.what.split()[0] in PRESENT.values()
    assert [meter.used for meter in view.meters if meter.name == "steps"] == [4]
    assert view.steps[-1].is_open
    assert [shown.number for shown in view.steps if shown.number] == [1, 2, 3, 4]
    page = text(as_owner, run)
    assert f'data-socket="/ws/runs/{run.pk}/"' in page
    assert 'data-state="ready"' in page


def test_it_speaks_of_now() -> None:
    assert present("Clicked at 3, 4 …") == "Clicking at 3, 4"
    assert present("Ran ls (planned)") == "Running ls"
    assert present("Machine: fork …") == "Machine: fork"


@pytest.mark.parametrize("state", list(State))
def test_it_opens_in_every_state_and_tab(as_owner: Client, owner: User, state: State) -> None:
    run = run_in(owner, state, steps=2)
    for tab in TABS:
        page = text(as_owner, run, f"?tab={tab}")
        assert f'tab={tab}" data-swap' in page
        assert "sales.csv" in page or tab != "files"


@pytest.mark.parametrize("headers", [{}, {"X-Fragment": "1"}])
def test_it_shows_hostile_text_as_text(
    as_owner: Client, owner: User, snapshot_of: SnapshotOf, headers: dict[str, str]
) -> None:
    run = run_in(owner, State.NEEDS_HELP, goal=HOSTILE, attachments={f"{HOSTILE[:40]}.csv": HOSTILE.encode()})
    branch = branch_of(run)
    Branch.objects.update(question=HOSTILE, detail=HOSTILE, claim=HOSTILE)
    Note.objects.create(branch=branch, text=HOSTILE)
    deliver(branch, "x.svg", HOSTILE.encode(), "image/svg+xml")
    deliver(branch, f"{HOSTILE[:30]}.txt", HOSTILE.encode(), "text/plain")
    recorder_of(branch).message(Actor.HUMAN, HOSTILE + "\ud800", turn=1, name="note 1")
    assert branch.machine
    snapshot_of(branch.machine, label=HOSTILE)
    pages = [at(run, f"?tab={tab}") for tab in TABS]
    for address in (*pages, "/", "/tasks/", f"/tasks/new/?like={run.task_id}"):
        page = as_owner.get(address, headers=headers).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    assert HOSTILE[:20].replace("<", "&lt;").replace(">", "&gt;") in text(as_owner, run)


def test_it_puts_three_facts_apart(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.FAILED, steps=2)
    page = as_owner.get(at(run))
    outcome = page.context["view"].outcome
    assert [check.outcome for check in outcome.checks] == ["failed", "failed"]
    body = page.content.decode()
    for fact in ("Ended", "Claimed", "Checks", "Handed over"):
        assert f"<h2>{fact}" in body
    assert "The limit of 6 steps is reached." in body
    assert "Found Sales!B8 = 8061." in body


def test_it_tells_of_checks_that_nobody_looked_at(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.CANCELLED, steps=1)
    outcome = as_owner.get(at(run)).context["view"].outcome
    assert {check.outcome for check in outcome.checks} == {"open"}
    assert outcome.tone == ""


def test_it_pauses_and_takes_it_back(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    assert "It pauses" in told(as_owner, run, "pause")
    assert branch_of(run).wish == Wish.PAUSE
    assert "Do not pause" in text(as_owner, run)
    assert "It goes on" in told(as_owner, run, "resume")
    assert branch_of(run).wish == Wish.NONE


def test_it_says_who_paused_it_and_you_to_that_person(as_owner: Client, owner: User, staff: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    told(as_owner, run, "pause")
    lifecycle.move(branch_of(run).pk, State.PAUSED, PAUSED.format(owner))
    other = Client()
    other.force_login(staff)
    assert "You paused it. Its machine" in text(as_owner, run)
    assert "owner paused it. Its machine" in text(other, run)
    assert [card.doing.what for card in as_owner.get("/").context["waiting"]] == ["You paused it."]


@pytest.mark.parametrize(("state", "words"), [(State.NEEDS_HELP, QUESTION), (State.PAUSED, "Somebody paused it.")])
def test_it_says_once_why_a_run_rests(as_owner: Client, owner: User, state: State, words: str) -> None:
    page = text(as_owner, run_in(owner, state, steps=1))
    desk = page.partition('data-live="top"')[2].partition('data-live="side"')[0]
    assert desk.count(words) == 1


def test_it_resumes_what_rests(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.PAUSED, steps=1)
    assert "It goes on" in told(as_owner, run, "resume")
    assert branch_of(run).state == State.QUEUED
    assert "Nothing to do" in told(as_owner, run_in(owner, State.FAILED, steps=1), "pause")


def test_it_takes_an_answer_and_goes_on(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.NEEDS_HELP, steps=1)
    assert QUESTION in text(as_owner, run)
    assert "Sent" in told(as_owner, run, "note", text="It is 123 456.")
    branch = branch_of(run)
    assert (branch.state, branch.question) == (State.QUEUED, "")
    note = Note.objects.get(branch=branch)
    assert (note.text, note.author) == ("It is 123 456.", owner)
    assert "not heard yet" in text(as_owner, run)


def test_it_gives_an_answer_to_the_branch_that_asked_alone(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    child = child_of(run, State.NEEDS_HELP)
    page = text(as_owner, run, "?branch=b1")
    assert "The agent of branch b1 asks" in page
    assert f'action="{at(run, "note/")}?branch=b1"' in page
    assert "Send a note to the agent of branch main" in text(as_owner, run)
    answer = as_owner.post(at(run, "note/?branch=b1"), {"text": "It is 123 456."})
    assert answer.headers["Location"] == at(run, "?branch=b1")
    assert [note.branch for note in Note.objects.all()] == [child]


@pytest.mark.parametrize(("words", "answer"), [("   ", "nothing to send"), ("x" * 10_001, "within 10000")])
def test_it_refuses_a_note_that_is_none(as_owner: Client, owner: User, words: str, answer: str) -> None:
    assert answer in told(as_owner, run_in(owner, State.RUNNING, steps=1), "note", text=words)
    assert not Note.objects.exists()


def test_it_has_nobody_to_hear_a_note_after_the_end(as_owner: Client, owner: User) -> None:
    assert "has ended" in told(as_owner, run_in(owner, State.SUCCEEDED, steps=1), "note", text="Well done.")


def test_it_changes_limits_while_it_runs(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    assert "limits are changed" in told(as_owner, run, "limits", steps="9", money="0.5")
    run.task.refresh_from_db()
    assert (run.task.limits["steps"], run.task.limits["money"], run.task.limits["minutes"]) == (9, 0.5, 60)
    assert "must be a number above 0" in told(as_owner, run, "limits", steps="-1")
    assert "Steps: enter a whole number." in told(as_owner, run, "limits", steps="many")
    run.task.refresh_from_db()
    assert run.task.limits["steps"] == 9


def test_it_changes_what_a_branch_has_of_its_own_there(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    Branch.objects.filter(run=run).update(limits={"steps": 5})
    told(as_owner, run, "limits", steps="7", money="2")
    run.task.refresh_from_db()
    assert (branch_of(run).limits, run.task.limits["steps"], run.task.limits["money"]) == ({"steps": 7}, 200, 2)
    assert as_owner.get(at(run)).context["view"].limits.steps == 7


def test_it_stops_after_asking(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    assert "Stop this run?" in text(as_owner, run, "stop/")
    assert branch_of(run).wish == Wish.NONE
    assert "being stopped" in told(as_owner, run, "stop")
    assert branch_of(run).wish == Wish.CANCEL


def test_it_stops_at_once_what_nobody_drives(as_owner: Client, owner: User) -> None:
    for state in (State.QUEUED, State.PAUSED, State.NEEDS_HELP):
        run = run_in(owner, state, steps=1)
        told(as_owner, run, "stop")
        assert branch_of(run).state == State.CANCELLED
        run.refresh_from_db()
        assert run.ended_at


def test_it_runs_a_task_again(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.FAILED, steps=1)
    response = as_owner.post(at(run, "again/"))
    other = run.task.runs.exclude(pk=run.pk).get()
    assert response.headers["Location"] == at(other)
    assert "Run 2" in as_owner.get(f"/tasks/{run.task_id}/").content.decode()
    run.task.attachments.update(sha256="0" * 64)
    assert "not stored any more" in told(as_owner, run, "again")


def test_it_asks_for_a_snapshot_only_of_a_desktop(as_owner: Client, owner: User) -> None:
    assert "asks its model again" in told(as_owner, run_in(owner, State.RUNNING, steps=1), "snapshot")
    assert "is being taken" in told(as_owner, run_in(owner, State.PAUSED, steps=1), "snapshot")
    assert "no desktop" in told(as_owner, run_in(owner, State.QUEUED), "snapshot")


def test_it_asks_for_a_snapshot_of_the_branch_that_it_shows(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    first = branch_of(run)
    other = Branch.objects.create(run=run, name="b1", parent=first, machine=machine_of(first, State.RUNNING))
    assert text(as_owner, run, "?branch=b1&tab=snapshots").count("/snapshot/?branch=b1") == 2
    as_owner.post(at(run, "snapshot/?branch=b1"), {"label": "here"})
    assert other.machine
    assert first.machine
    assert (wanted(other.machine), wanted(first.machine)) == ("here", "")


def test_it_shows_files_as_what_they_are(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=1)
    branch = branch_of(run)
    deliver(branch, "notes.txt", b"All is well. " + b"x" * 20_000, "text/plain")
    deliver(branch, "old.csv", b"a;b", "text/csv")
    deliver(branch, "sums.csv", b"name,sum\nnorth,\xe2\x82\xac 3\n", "text/csv")
    page = text(as_owner, run, "?tab=files")
    assert "All is well." in page
    assert '<th scope="col">name</th>' in page
    assert "<td>€ 3</td>" in page
    assert "No preview of application/vnd.ms-excel" in page


def test_it_gives_a_file_away_so_that_no_browser_runs_it(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=1)
    sha256 = deliver(branch_of(run), "page.html", b"<script>alert(1)</script>", "text/html")
    response: Any = as_owner.get(f"/tasks/{run.task_id}/files/{sha256}/")
    assert response.getvalue() == b"<script>alert(1)</script>"
    assert response.headers["Content-Disposition"] == 'attachment; filename="page.html"'
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response.headers["Content-Security-Policy"]
    assert as_owner.get(f"/tasks/{run.task_id}/files/{sha256}/picture/").status_code == 404


def test_it_has_no_files_of_other_tasks(as_owner: Client, owner: User) -> None:
    one, other = run_in(owner, State.SUCCEEDED, steps=1), run_in(owner, State.QUEUED, attachments={"b.csv": b"b"})
    sha256 = other.task.attachments.get().sha256
    assert as_owner.get(f"/tasks/{one.task_id}/files/{sha256}/").status_code == 404
    assert as_owner.get(f"/tasks/{other.task_id}/runs/{one.pk}/").status_code == 404


def test_it_shows_the_way_to_a_desktop(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.PROVISIONING)
    page = text(as_owner, run)
    assert "Getting a machine" in page
    assert "about" not in page.split('class="way"')[1].split("</ol>")[0]
    queued = run_in(owner, State.QUEUED)
    assert "In line, number 1" in text(as_owner, queued)


def test_it_estimates_from_three_runs_on_and_says_when_it_takes_too_long(as_owner: Client, owner: User) -> None:
    for _ in range(2):
        ready_after(run_in(owner, State.SUCCEEDED, steps=1), seconds=10)
    assert usual_seconds("desktop") is None
    ready_after(run_in(owner, State.SUCCEEDED, steps=1), seconds=14)
    assert usual_seconds("desktop") == 10
    assert usual_seconds("office") is None
    waits = run_in(owner, State.PROVISIONING)
    assert "Taking longer than usual" in text(as_owner, waits)
    machine = branch_of(waits).machine
    assert machine
    Machine.objects.filter(pk=machine.pk).update(created_at=timezone.now())
    Event.objects.filter(machine=machine).update(at=timezone.now() - timedelta(seconds=12))
    page = text(as_owner, waits)
    assert "Taking longer than usual" not in page
    assert "of about 10 s" in page


def ready_after(run: Run, seconds: int) -> None:
    machine = branch_of(run).machine
    assert machine
    Event.objects.filter(machine=machine, state="ready").update(at=machine.created_at + timedelta(seconds=seconds))


def test_it_forgets_the_way_once_there_is_a_step(owner: User) -> None:
    assert stages(branch_of(run_in(owner, State.FAILED, steps=1))) == []
    assert [stage.progress for stage in stages(branch_of(run_in(owner, State.QUEUED)))] == [
        "now",
        "next",
        "next",
        "next",
    ]


def test_it_lists_the_runs_of_a_task(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=1)
    assert "Run 2" not in as_owner.get(f"/tasks/{run.task_id}/").content.decode()
    branch = api.start(run.task).branches.get()
    settle(branch, State.RUNNING, machine_of(branch, State.RUNNING))
    page = as_owner.get(f"/tasks/{run.task_id}/").content.decode()
    for number, each in ((1, run), (2, branch.run)):
        assert f'href="{at(each)}">Run {number}</a>' in page


def test_it_shows_one_branch_at_a_time(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=2)
    Branch.objects.create(run=run, name="b1", parent=branch_of(run))
    assert as_owner.get(at(run, "?branch=b1")).context["view"].branch.name == "b1"
    assert as_owner.get(at(run)).context["view"].branch.name == "main"
    assert as_owner.get(at(run, "?branch=b9")).status_code == 404


def test_it_shows_the_branch_that_counts_when_all_are_over(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=2)
    run.chosen = child_of(run, State.SUCCEEDED)
    run.save(update_fields=["chosen"])
    assert as_owner.get(at(run)).context["view"].branch.name == "b1"
    page = as_owner.get(at(run, "?branch=main"))
    assert page.context["view"].branch.name == "main"
    assert "?branch=main&amp;tab=files" in page.content.decode()


def test_it_asks_the_database_little(as_owner: Client, owner: User, django_assert_max_num_queries: Any) -> None:
    run = run_in(owner, State.RUNNING, steps=30)
    with django_assert_max_num_queries(30):
        as_owner.get(at(run), headers={"X-Fragment": "1"})


def test_it_draws_what_is_about_to_be_done(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.PAUSED, steps=2)
    call: Any = {"id": "next", "name": "left_click", "input": {"coordinate": [100, 200]}, "toolset": "computer"}
    recorder_of(branch_of(run)).reply(
        None, turn=9, text="", reasoning="", usage=USAGE, cost=0, provider="scripted", model="Chart", calls=[call]
    )
    view = as_owner.get(at(run)).context["view"]
    rings = [shape.attributes for shape in view.intent.shapes if shape.tag == "circle"]
    assert {(ring["cx"], ring["cy"]) for ring in rings} == {(100, 200)}
    assert view.next_act == "Clicking at 100, 200"
    assert 'cx="100" cy="200"' in text(as_owner, run)


def test_it_goes_step_by_step(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=2)
    assert told(as_owner, run, "step") == "One step further, and then it rests."
    assert branch_of(run).wish == STEPWISE
    settle(branch_of(run), State.PAUSED, branch_of(run).machine)
    told(as_owner, run, "step")
    assert (branch_of(run).state, branch_of(run).wish) == (State.QUEUED, STEPWISE)
