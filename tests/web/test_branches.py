"""Branches by hand: beginning them at a step, picking the one that counts, and deleting one."""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from agents import api, exploring, pruning
from agents.branching import Way
from agents.endings import HANDED_ON
from agents.errors import BadTask
from agents.models import Branch, Run, State, Task
from godhand_web.models import User
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from traces.models import Event, Reference
from traces.storage import collect, default_store

from .branch_seed import branched

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "image")]
HIDDEN = re.compile(r'name="key" value="([^"]+)"')


@pytest.fixture(autouse=True)
def _home(settings: LazySettings, tmp_path: Path) -> None:
    settings.HOST = SimpleNamespace(home=tmp_path, images=tmp_path / "images", machines=tmp_path / "machines")


@pytest.fixture
def run(owner: User) -> Run:
    return branched(owner)


def step(run: Run, branch: str, number: int) -> int:
    """The seq of the action with that number among the branch's own."""
    acts = Event.objects.filter(trace=run.trace_id, branch=branch, kind="action").order_by("seq")
    return acts[number - 1].seq


def form(client: Client, run: Run, seq: int) -> str:
    return client.get(f"/traces/{run.trace_id}/fork/?step={seq}").content.decode()


def begin(client: Client, run: Run, seq: int, hints: Sequence[str] = ("",), **fields: str) -> str:
    key = HIDDEN.search(form(client, run, seq))
    assert key
    data = {"key": key[1], "each": "1", "hint": list(hints), **fields}
    answer = client.post(f"/traces/{run.trace_id}/fork/?step={seq}", data, follow=True)
    return answer.content.decode()


def test_it_says_how_far_back_the_nearest_saved_moment_is(as_owner: Client, run: Run) -> None:
    assert "2</span> steps back" in form(as_owner, run, step(run, "main", 5))
    assert "steps back" not in form(as_owner, run, step(run, "main", 3))
    assert "was not saved" not in form(as_owner, run, step(run, "b1", 1))
    Snapshot.objects.filter(label="after 3 steps").delete()
    assert "nothing that a branch could begin with" in form(as_owner, run, step(run, "main", 5))
    assert "nothing that a branch could begin with" in form(as_owner, run, step(run, "main", 1))


def test_it_begins_branches_of_a_run_that_has_ended(as_owner: Client, run: Run) -> None:
    page = begin(as_owner, run, step(run, "main", 5), ["By the menu.", "By a key."], each="2", steps="40")
    assert "“b4” and “b5” and “b6” and more begin from there." in page
    made = run.branches.filter(name__in=["b4", "b5", "b6", "b7"])
    assert [branch.hint for branch in made] == ["By the menu.", "By the menu.", "By a key.", "By a key."]
    assert {branch.limits["steps"] for branch in made} == {40}
    assert {branch.snapshot.label for branch in made if branch.snapshot} == {"after 3 steps"}
    run.refresh_from_db()
    assert run.state == State.QUEUED
    assert "b4" in as_owner.get(f"/traces/{run.trace_id}/").content.decode()


def test_a_second_click_begins_nothing_more(as_owner: Client, run: Run) -> None:
    at = f"/traces/{run.trace_id}/fork/?step={step(run, 'main', 5)}"
    for _ in range(2):
        as_owner.post(at, {"key": "once", "each": "1", "hint": "Again."})
    assert run.branches.count() == 5


def test_what_a_person_begins_goes_on_although_another_has_passed(as_owner: Client, run: Run) -> None:
    Task.objects.update(plan={"stop": "first"})
    begin(as_owner, run, step(run, "b2", 1))
    exploring.advance(run.pk)
    assert run.branches.get(name="b4").state == State.QUEUED


def test_it_begins_with_another_model(as_owner: Client, run: Run) -> None:
    begin(as_owner, run, step(run, "main", 4), provider="scripted", **{"scripted-script": "trap"})
    assert run.branches.get(name="b4").model == {"provider": "scripted", "options": {"script": "trap"}}


def test_it_says_at_the_form_what_is_wrong(as_owner: Client, run: Run) -> None:
    for hints, fields, why in (
        (["a"], {"steps": "3"}, "steps must be above 3"),
        (["a"], {"money": "0.01"}, "which the run has cost so far"),
        (["a"], {"each": "9"}, "Branches: at most 8 at once."),
        (["a"], {"provider": "nobody"}, "There is no such model here."),
        (["a", "b"], {"each": "8"}, "may have 16 branches"),
    ):
        assert why in begin(as_owner, run, step(run, "main", 5), hints, **fields), why
    assert run.branches.count() == 4


def test_it_lets_a_person_pick_and_shows_the_reasons(as_owner: Client, run: Run) -> None:
    page = as_owner.get(f"/traces/{run.trace_id}/branches/").content.decode()
    assert "b2 was chosen" in page
    assert "2 of 2 checks passed, against 1 of 2" in page
    as_owner.post(f"/traces/{run.trace_id}/branches/pick/", {"branch": "b1"})
    run.refresh_from_db()
    assert run.chosen
    assert (run.chosen.name, run.state) == ("b1", State.FAILED)
    page = as_owner.get(f"/traces/{run.trace_id}/branches/").content.decode()
    assert "owner picked b1" in page
    tree = as_owner.get(f"/traces/{run.trace_id}/?branch=b1").content.decode()
    assert tree.count("winner</span>") == 1


def test_it_does_not_pick_what_is_under_way(as_owner: Client, owner: User) -> None:
    run = branched(owner, goes_on=True)
    answer = as_owner.post(f"/traces/{run.trace_id}/branches/pick/", {"branch": "b3"}, follow=True)
    assert "“b3” is under way" in answer.content.decode()


def test_it_shows_state_checks_and_cost_at_every_head(as_owner: Client, owner: User) -> None:
    run = branched(owner, goes_on=True)
    Branch.objects.create(run=run, name="b4", parent=run.branches.get(name="main"))
    page = as_owner.get(f"/traces/{run.trace_id}/").content.decode()
    assert page.count("$0.012</span>") == 3
    assert re.search(r"<b>b4</b>.*Queued", page)
    assert page.count("running</span>") == 1


def test_it_shows_a_tile_for_every_branch(as_owner: Client, owner: User) -> None:
    run = branched(owner, goes_on=True)
    page = as_owner.get(f"/tasks/{run.task_id}/runs/{run.pk}/?branch=b3").content.decode()
    tiles = page[page.index("branch-tiles") : page.index("tiles-more")]
    assert re.findall(r'id="tile-(\w+)"', tiles) == ["main", "b1", "b2", "b3"]
    assert re.findall(r'id="tile-(\w+)" aria-current="true"', tiles) == ["b3"]
    assert tiles.count("checks passed: </span>1/2") == 2
    assert tiles.count("checks passed: </span>2/2") == 1
    assert "Thinking" in tiles


def test_it_calls_a_branch_forked_that_handed_its_task_on(as_owner: Client, owner: User) -> None:
    run = branched(owner)
    main = run.branches.filter(name="main")
    pages = (f"/tasks/{run.task_id}/runs/{run.pk}/?branch=main", f"/traces/{run.trace_id}/branches/")
    for detail, word in (("Cancelled", "Cancelled"), (HANDED_ON.format("b1, b2"), "Forked")):
        main.update(state=State.CANCELLED, detail=detail, verdict={})
        for page in pages:
            text = as_owner.get(page).content.decode()
            assert (f"</svg>{word}</span>" in text, text.count("</svg>Forked</span>") > 0) == (True, word == "Forked")


def refused(client: Client, run: Run, name: str) -> str:
    at = f"/traces/{run.trace_id}/branches/delete/?branch={name}"
    asked, answer = client.get(at).content.decode(), client.post(at, follow=True).content.decode()
    reason = re.search(r'<p class="fork-back">.*?<span>(.*?)</span>', asked)
    assert reason
    assert reason[1] in answer
    assert "Delete it" not in asked
    assert run.branches.filter(name=name).exists()
    return reason[1]


def test_it_keeps_a_branch_that_others_need(as_owner: Client, run: Run, owner: User) -> None:
    branch = run.branches.get(name="b1")
    snapshot = Snapshot.objects.get(machine=branch.machine)
    assert "delete the whole trace instead" in refused(as_owner, run, "main")
    assert "is the one that counts: pick another first" in refused(as_owner, run, "b2")
    task = Task.objects.create(owner=owner, goal="Later.", image="desktop", snapshot=snapshot.pk)
    assert "The task “Later.” begins from one of its snapshots" in refused(as_owner, run, "b1")
    waiting = Branch.objects.create(run=branched(owner), name="b7", snapshot=snapshot)
    assert "waits to begin from one of its snapshots" in refused(as_owner, run, "b1")
    busy = Machine.objects.create(name="busy", owner=owner, image="desktop", made_from=snapshot, host="h")
    assert "The machine “busy” needs one of its snapshots" in refused(as_owner, run, "b1")
    child = Branch.objects.create(run=run, name="b9", parent=branch, state=State.FAILED)
    assert "“b9” began on “b1”" in refused(as_owner, run, "b1")
    Branch.objects.filter(pk=branch.pk).update(state=State.RUNNING)
    assert "is under way: stop it first" in refused(as_owner, run, "b1")
    Branch.objects.filter(pk=branch.pk).update(state=State.FAILED)
    for each in (task, waiting, busy, child):
        each.delete()
    assert pruning.why_not(run.branches.get(name="b1")) == ""


def test_it_gives_the_room_of_a_branch_back(
    as_owner: Client, run: Run, django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[Any]]
) -> None:
    branch, machine = run.branches.get(name="b1"), Machine.objects.get(name=f"{run.pk}-b1")
    Machine.objects.filter(pk=machine.pk).update(made_from=Snapshot.objects.get(machine=machine))
    before, collected = on_disk(), collect(default_store(), grace=0)
    space = pruning.space_of(branch)
    assert (space.snapshots, space.saved, collected.files) == (1, 100 * 2**20, 0)
    assert space.stored > 1000
    at = f"/traces/{run.trace_id}/branches/delete/?branch=b1"
    assert "100.0\xa0MB in 1" in as_owner.get(at).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert "“b1” is deleted" in as_owner.post(at, follow=True).content.decode()
    collect(default_store(), grace=0)
    assert before - on_disk() == space.stored
    machine.refresh_from_db()
    assert machine.state == MachineState.DESTROYING
    assert list(Snapshot.objects.values_list("label", flat=True)) == ["after 3 steps"]
    assert not Event.objects.filter(trace=run.trace_id, branch="b1").exists()
    assert as_owner.get(f"/traces/{run.trace_id}/").status_code == 200
    run.trace.refresh_from_db()
    assert run.trace.bytes == sum(Reference.objects.filter(trace=run.trace_id).values_list("blob__size", flat=True))


def test_what_others_show_too_stays_when_a_branch_goes(owner: User) -> None:
    """b1 and b2 of another run have seen the same screens."""
    run, other = branched(owner), branched(owner)
    branch = run.branches.get(name="b1")
    assert pruning.space_of(branch).stored == 0
    pruning.delete_branch(branch)
    collect(default_store(), grace=0)
    for sha256 in Event.objects.filter(trace=other.trace_id).exclude(after="").values_list("after", flat=True):
        assert default_store().path_of(sha256, "image/webp").exists()


def test_the_name_of_a_deleted_branch_bothers_nobody(run: Run) -> None:
    pruning.delete_branch(run.branches.get(name="b1"))
    made = api.branch_from(run, step(run, "main", 5), [Way("Once more.")])
    assert [branch.name for branch in made] == ["b4"]


def test_it_begins_at_the_end_of_a_branch_whose_machine_is_kept(run: Run) -> None:
    machine = Machine.objects.get(name=f"{run.pk}-b1")
    Machine.objects.filter(pk=machine.pk).update(made_from=machine.snapshots.get())
    head = Event.objects.filter(trace=run.trace_id, branch="b1").latest("seq")
    start = api.start_from(run, head.seq)
    assert start
    assert (start.point.after, start.steps, start.back) == (head.pk, 4, 0)


def test_it_is_no_business_of_strangers(run: Run, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    for path in ("branches/", "fork/", "merge/", "branches/delete/?branch=b1"):
        assert client.get(f"/traces/{run.trace_id}/{path}").status_code == 404
    for path in ("fork/", "branches/pick/", "branches/delete/?branch=b1"):
        assert client.post(f"/traces/{run.trace_id}/{path}", {"branch": "b1"}).status_code == 404


def test_it_does_not_begin_where_nothing_was_saved(run: Run) -> None:
    with pytest.raises(BadTask, match="no machine was saved"):
        api.branch_from(run, step(run, "main", 2), [Way("")])
    with pytest.raises(ValueError, match="no event"):
        api.branch_from(run, 10_000, [Way("")])


def on_disk() -> int:
    return sum(path.stat().st_size for path in default_store()._files() if path.is_file())
