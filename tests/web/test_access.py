"""Every address for everybody. A new address without a row here fails."""

from collections.abc import Callable, Mapping

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Run, State, Task
from godhand_web.models import LoginLink, User
from godhand_web.urls import urlpatterns
from sandboxes.models import Machine, Screenshot, Snapshot
from traces.events import Actor, Kind
from traces.models import Job, Remark, Share, Trace
from traces.queries import head_of
from traces.recorder import DatabaseRecorder

from .conftest import MachineOf, SnapshotOf
from .example import example_trace
from .task_rows import pictures, run_in
from .trace_addresses import about_a_job, about_a_share, about_a_trace

pytestmark = pytest.mark.usefixtures("redis_url", "image")

LOGIN, MISSING, FINE, SEE_OTHER = "login", 404, 200, 302

# What to send, and the answer to: anonymous, stranger, owner, staff.
MATRIX = {
    "dashboard": ("get", {}, LOGIN, FINE, FINE, FINE),
    "tasks": ("get", {}, LOGIN, FINE, FINE, FINE),
    "new_task": ("get", {}, LOGIN, FINE, FINE, FINE),
    "demo_task": ("post", {}, LOGIN, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "task": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "task_file": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "task_picture": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "run": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "pause_run": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "resume_run": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "send_note": ("post", {"text": "Go on."}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "change_limits": ("post", {"steps": "9"}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "snapshot_run": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "stop_run": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "run_again": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "run_ticket": ("post", {"role": "drive"}, LOGIN, MISSING, FINE, FINE),
    "machines": ("get", {}, LOGIN, FINE, FINE, FINE),
    "new_machine": ("get", {}, LOGIN, FINE, FINE, FINE),
    "machine": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "destroy_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "ticket": ("post", {"role": "drive"}, LOGIN, MISSING, FINE, FINE),
    "lease": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "lease_act": ("post", {}, LOGIN, MISSING, FINE, FINE),
    "stop_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "resume_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "take_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "fork_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "go_back": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "delete_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "take_screenshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "screenshot": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "picture": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "traces": ("get", {}, LOGIN, FINE, FINE, FINE),
    "trace": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "trace_path": ("get", {"branch": "main"}, LOGIN, MISSING, FINE, FINE),
    "trace_steps": ("get", {"seqs": "1"}, LOGIN, MISSING, FINE, FINE),
    "trace_step": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "trace_tree": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "trace_changes": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "search_trace": ("get", {"q": "pandas"}, LOGIN, MISSING, FINE, FINE),
    "trace_picture": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "trace_thumb": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "trace_sheet": ("get", {"branch": "main"}, LOGIN, MISSING, FINE, FINE),
    "trace_file": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "add_remark": ("post", {"text": "Well done."}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "delete_remark": ("post", {}, LOGIN, MISSING, SEE_OTHER, MISSING),
    "compare_trace": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "import_trace": ("get", {}, LOGIN, FINE, FINE, FINE),
    "export_trace": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "cancel_job": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "download_export": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "share_trace": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "keep_trace": ("post", {"keep": "yes"}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "delete_trace": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "shares": ("get", {}, LOGIN, FINE, FINE, FINE),
    "revoke_shares": ("post", {}, LOGIN, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "share": ("get", {}, LOGIN, MISSING, FINE, MISSING),
    "issue_share": ("post", {"lifetime": "7d"}, LOGIN, MISSING, FINE, MISSING),
    "discard_share": ("post", {}, LOGIN, MISSING, SEE_OTHER, MISSING),
    "revoke_share": ("post", {}, LOGIN, MISSING, SEE_OTHER, MISSING),
    "open_share": ("get", {}, SEE_OTHER, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "shared": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "shared_path": ("get", {"branch": "main"}, MISSING, MISSING, FINE, MISSING),
    "shared_steps": ("get", {"seqs": "1"}, MISSING, MISSING, FINE, MISSING),
    "shared_step": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "shared_tree": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "shared_changes": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "search_shared": ("get", {"q": "pandas"}, MISSING, MISSING, FINE, MISSING),
    "shared_picture": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "shared_thumb": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "shared_sheet": ("get", {"branch": "main"}, MISSING, MISSING, FINE, MISSING),
    "shared_file": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "take_shared": ("get", {}, MISSING, MISSING, FINE, MISSING),
    "images": ("get", {}, LOGIN, FINE, FINE, FINE),
    "settings": ("get", {}, LOGIN, FINE, FINE, FINE),
    "space": ("get", {}, LOGIN, FINE, FINE, FINE),
    "test_model": ("post", {}, LOGIN, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "theme": ("post", {"theme": "dark"}, SEE_OTHER, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "login": ("get", {}, FINE, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "login_link": ("get", {}, FINE, FINE, FINE, FINE),
    "logout": ("post", {}, LOGIN, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "healthz": ("get", {}, FINE, FINE, FINE, FINE),
    "readyz": ("get", {}, FINE, FINE, FINE, FINE),
}
POSTS = [name for name, (method, *_) in MATRIX.items() if method == "post"]
POSTS += ["new_task", "new_machine", "import_trace", "export_trace", "share_trace", "settings", "login", "login_link"]


@pytest.fixture
def address(
    owner: User,
    machine_of: MachineOf,
    screenshot_of: Callable[[Machine], Screenshot],
    snapshot_of: SnapshotOf,
) -> Callable[[str], str]:
    """The address of a page about a machine of the owner's."""
    shot = screenshot_of(machine_of(owner))
    known = {
        "machine_id": shot.machine_id,
        "snapshot_id": snapshot_of(shot.machine).pk,
        "number": shot.pk,
        "sha256": shot.sha256,
        "token": LoginLink.issue(owner),
        "kind": "scripted",
        "verb": "decline",
    }

    def find(name: str) -> str:
        pattern = next(each for each in urlpatterns if each.name == name).pattern
        facts = {**known, **about(name, set(pattern.converters), owner)}
        return reverse(name, kwargs={key: facts[key] for key in pattern.converters})

    return find


def about(name: str, wanted: set[str], owner: User) -> Mapping[str, object]:
    if "task_id" in wanted:
        return about_a_task(owner)
    if "job_id" in wanted:
        return about_a_job(owner, name)
    if "trace_id" in wanted:
        return about_a_trace(owner)
    return about_a_share(owner, name) if wanted & {"share_id", "share_token"} else {}


def about_a_task(owner: User) -> dict[str, str]:
    """Of the owner's, with a picture among its files."""
    run = run_in(owner, State.RUNNING, steps=1, attachments={"a.webp": pictures()[0][1]})
    return {"task_id": run.task_id, "run_id": run.pk, "sha256": run.task.attachments.get().sha256}


def test_it_has_a_row_for_every_address() -> None:
    assert {pattern.name for pattern in urlpatterns} == set(MATRIX)


@pytest.mark.parametrize("name", MATRIX)
def test_it_sends_nobody_in_without_a_login(name: str, address: Callable[[str], str]) -> None:
    method, fields, expected, *_ = MATRIX[name]
    response = getattr(Client(), method)(address(name), fields)
    if expected == LOGIN:
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/?next=")
    else:
        assert response.status_code == expected


@pytest.mark.parametrize(("who", "column"), [("stranger", 3), ("owner", 4), ("staff", 5)])
@pytest.mark.parametrize("name", MATRIX)
def test_it_shows_each_person_what_is_theirs(
    name: str, who: str, column: int, address: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    row = MATRIX[name]
    client = Client()
    client.force_login(request.getfixturevalue(who))
    response = getattr(client, str(row[0]))(address(name), row[1])
    assert response.status_code == row[column], response.content


@pytest.mark.parametrize("name", POSTS)
def test_it_refuses_every_form_without_its_token(name: str, address: Callable[[str], str], owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    if name != "login":
        client.force_login(owner)
    response = client.post(address(name), MATRIX[name][1])
    assert response.status_code == 403
    assert "open too long" in response.content.decode()


@pytest.mark.parametrize("name", [name for name in POSTS if name not in {"login", "new_machine", "settings"}])
def test_it_changes_nothing_by_looking(name: str, address: Callable[[str], str], as_owner: Client) -> None:
    at = address(name)
    before = what_is_there()
    assert as_owner.get(at).status_code in {200, 405}
    assert what_is_there() == before
    assert as_owner.get("/").status_code == 200


def what_is_there() -> tuple[object, ...]:
    counted = (Snapshot, LoginLink, Task, Run, Trace, Remark, Share, Job)
    shares = Share.objects.values_list("views", "issued_at", "revoked_at", "copy")
    states = Machine.objects.values_list("state", flat=True)
    return list(states), list(shares), [model.objects.count() for model in counted]


@pytest.mark.parametrize("action", ["fork", "back", "delete"])
def test_it_has_no_snapshots_of_others_for_a_machine_of_ones_own(
    owner: User, stranger: User, machine_of: MachineOf, snapshot_of: SnapshotOf, action: str
) -> None:
    foreign, mine = snapshot_of(machine_of(owner)), machine_of(stranger)
    client = Client()
    client.force_login(stranger)
    before = what_is_there()
    assert client.post(f"/machines/{mine.pk}/snapshots/{foreign.pk}/{action}/").status_code == 404
    assert what_is_there() == before


def test_it_hides_the_machines_of_others(owner: User, stranger: User, machine_of: MachineOf) -> None:
    machine_of(owner, name="secret-crane")
    client = Client()
    client.force_login(stranger)
    for page in ("/", "/machines/"):
        assert "secret-crane" not in client.get(page).content.decode()


def test_it_has_nothing_of_others_for_a_trace_of_ones_own(owner: User, stranger: User) -> None:
    theirs, mine = about_a_trace(owner), example_trace(stranger).pk
    foreign_trace = Trace.objects.get(pk=theirs["trace_id"])
    foreign = DatabaseRecorder(foreign_trace, "b2", lambda: None, head_of(foreign_trace.pk, "main"))
    only_there = foreign.picture(b"not seen by anybody else", "image/webp", 1, 1)
    foreign.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[only_there])
    client = Client()
    client.force_login(stranger)
    before = what_is_there()
    for path in (f"pictures/{only_there}", f"thumbs/{only_there}.webp", "steps/999/", "files/999/"):
        assert client.get(f"/traces/{mine}/{path}").status_code == 404, path
    assert client.post(f"/traces/{mine}/remarks/{theirs['number']}/delete/").status_code == 404
    assert what_is_there() == before
