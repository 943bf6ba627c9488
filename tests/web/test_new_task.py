"""The form that starts a task: what it sends on, what it refuses and where, and that it loses nothing."""

import io
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.api import submit
from agents.errors import BadTask
from agents.examples import EXAMPLES
from agents.models import State, Task
from agents.plan import Plan
from agents.verify import parse_checks
from godhand_web.models import User
from godhand_web.pages.task_form import SNIPPETS
from godhand_web.templatetags.godhand import of_field
from tests.providers.wire import KEY, WireServer
from tests.providers.wire.replies import message, text
from traces.models import Blob

from .conftest import MachineOf, SnapshotOf
from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")

PROMPT = {
    "goal": "Make a chart of sales.csv.",
    "start": "image:desktop",
    "provider": "scripted",
    "scripted-script": "chart",
    "steps": "40",
    "minutes": "12.5",
    "money": "3",
    "runs": "1",
    "network": "off",
    "on_help": "wait",
}


def send(client: Client, **changes: Any) -> Any:
    return client.post("/tasks/new/", {**PROMPT, **changes})


def errors(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 400
    return {field: list(map(str, found)) for field, found in response.context["form"].errors.items()}


def csv(name: str = "sales.csv", data: bytes = b"month,north\nMay,3\n") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, "text/csv")


def test_it_starts_a_task_and_goes_to_its_page(as_owner: Client, owner: User) -> None:
    response = send(as_owner, files=[csv()], network="allowlist", allow="example.org\n10.1.2.3:80", runs="2")
    task = Task.objects.get()
    assert response.headers["Location"] == f"/tasks/{task.pk}/"
    assert (task.owner, task.goal, task.options) == (owner, PROMPT["goal"], {"script": "chart"})
    assert (task.limits["steps"], task.limits["minutes"], task.limits["money"]) == (40, 12.5, 3)
    assert task.network == {"mode": "allowlist", "allow": ["example.org", "10.1.2.3:80"]}
    assert [file.name for file in task.attachments.all()] == ["sales.csv"]
    assert task.runs.count() == 2


def test_it_needs_nothing_but_a_prompt(as_owner: Client) -> None:
    page = as_owner.get("/tasks/new/")
    form = page.context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "", "False")}
    assert as_owner.post("/tasks/new/", {**given, "goal": "Do it."}).status_code == 302
    assert Task.objects.get().limits["steps"] == 200


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"goal": "  "}, "goal", "Say what is to be done"),
        ({"start": "image:nowhere"}, "start", "not there any more"),
        ({"provider": "anthropic"}, "provider", "ANTHROPIC_API_KEY"),
        ({"provider": "nobody"}, "provider", "no such model"),
        ({"scripted-script": "waltz"}, "scripted-script", "There is no script “waltz”"),
        ({"scripted-script": "[[step]]\nsway = 1"}, "scripted-script", "Step 1"),
        ({"scripted-latency": "soon"}, "scripted-latency", "must be a number"),
        ({"steps": "0"}, "steps", "greater than or equal to 1"),
        ({"runs": "17"}, "runs", "less than or equal to 16"),
        ({"network": "allowlist", "allow": ""}, "allow", "at least one"),
        ({"network": "allowlist", "allow": "not a place!"}, "allow", "is no name"),
        ({"checks": "[[check]]\nkind = 'file_exist'"}, "checks", "did you mean “file_exists”"),
        ({"checks": "nonsense"}, "checks", "not proper TOML"),
        ({"on_help": "panic"}, "on_help", "panic"),
        ({"plan_every": "-1"}, "plan_every", "greater than or equal to 0"),
        ({"plan_search": "9"}, "plan_search", "less than or equal to 8"),
    ],
)
def test_it_says_what_is_wrong_where_it_is(as_owner: Client, changes: dict[str, str], field: str, words: str) -> None:
    response = send(as_owner, **changes)
    found = errors(response)
    assert list(found) == [field]
    assert words in found[field][0]
    page = response.content.decode()
    assert f'href="#field-{field}"' in page
    assert f'id="field-{field}"' in page
    assert not Task.objects.exists()


def test_it_names_every_mistake_at_once(as_owner: Client) -> None:
    found = errors(send(as_owner, goal="", runs="99", checks="[[check]]", **{"scripted-script": "waltz"}))
    assert set(found) == {"goal", "runs", "checks", "scripted-script"}


def test_it_loses_nothing_on_a_mistake_files_too(as_owner: Client) -> None:
    response = send(as_owner, goal="", checks='[[check]]\nkind = "file_exists"\npath = "a"', files=[csv()])
    page = response.content.decode()
    word = re.search(r'name="kept" value="([^"]+)"', page)
    assert word, page
    assert "sales.csv" in page
    assert "path = &quot;a&quot;" in page
    assert send(as_owner, kept=word[1], files=[csv("more.csv")]).status_code == 302
    assert sorted(file.name for file in Task.objects.get().attachments.all()) == ["more.csv", "sales.csv"]


def test_it_takes_no_file_of_somebody_else(as_owner: Client, stranger: User) -> None:
    page = send(as_owner, goal="", files=[csv()]).content.decode()
    word = re.search(r'name="kept" value="([^"]+)"', page)
    assert word
    other = Client()
    other.force_login(stranger)
    for stolen in (word[1], "a" * 64, Blob.objects.get().pk):
        assert "attachments" in errors(send(other, kept=stolen))


def test_it_says_when_a_kept_file_is_gone(as_owner: Client) -> None:
    page = send(as_owner, goal="", files=[csv()]).content.decode()
    word = re.search(r'name="kept" value="([^"]+)"', page)
    assert word
    Blob.objects.all().delete()
    assert "attach it again" in errors(send(as_owner, kept=word[1]))["attachments"][0]


def test_it_gives_files_clean_names(as_owner: Client) -> None:
    assert send(as_owner, files=[csv("../../etc/pass\nwd.csv")]).status_code == 302
    assert Task.objects.get().attachments.get().name == "passwd.csv"


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_fills_in_an_example_that_can_be_sent(as_owner: Client, name: str) -> None:
    page = as_owner.get(f"/tasks/new/?example={name}")
    ((file, source),) = EXAMPLES[name].attachments().items()
    assert file in page.content.decode()
    form = page.context["form"]
    given = {field: form[field].value() for field in form.fields if form[field].value() not in (None, "", "False")}
    assert as_owner.post("/tasks/new/", {**given, "bundled": file}).status_code == 302
    task = Task.objects.get()
    assert task.attachments.get().size == source.stat().st_size
    assert task.checks
    assert Plan.from_json(task.plan) == Plan.from_json(dict(EXAMPLES[name].plan))


def test_it_starts_the_demo_without_a_key(as_owner: Client) -> None:
    response = as_owner.post("/tasks/demo/")
    task = Task.objects.get()
    assert response.headers["Location"] == f"/tasks/{task.pk}/"
    assert (task.provider, task.attachments.get().name) == ("scripted", "sales.csv")


def test_it_fills_in_another_task_once_more(as_owner: Client, owner: User) -> None:
    asked = {"mode": "allowlist", "allow": ["a.example"]}
    first = run_in(owner, State.QUEUED, network=asked, on_help="stop", limits={"steps": 7, "money": 0.5})
    page = as_owner.get(f"/tasks/new/?like={first.task_id}")
    form = page.context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "", "False", False)}
    words = re.findall(r'name="kept" value="([^"]+)"', page.content.decode())
    assert as_owner.post("/tasks/new/", {**given, "kept": words}).status_code == 302
    again = Task.objects.exclude(pk=first.task_id).get()
    facts = ("goal", "image", "provider", "options", "checks", "limits", "network", "on_help")
    assert [getattr(again, name) for name in facts] == [getattr(first.task, name) for name in facts]
    assert again.attachments.get().sha256 == first.task.attachments.get().sha256


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"every": 5, "recover": 2},
        {"verified": True, "risky": True, "approve": True, "uncertain": True},
        {"search": 3, "budget": 40, "patience": 4, "stop": "all", "judge": False},
    ],
)
def test_it_keeps_what_another_task_wants_of_its_branches(as_owner: Client, owner: User, plan: dict[str, Any]) -> None:
    first = run_in(owner, State.QUEUED, plan=plan)
    form = as_owner.get(f"/tasks/new/?like={first.task_id}").context["form"]
    assert form.plan_is_unusual() == bool(plan.keys() - {"every"})
    shown = {name: str(value) for name in form.fields if (value := form[name].value()) not in (None, "", "False")}
    mistaken = as_owner.post("/tasks/new/", {**shown, "goal": ""}).context["form"]
    assert mistaken.plan_is_unusual() == form.plan_is_unusual()
    given = {name: form[name].value() for name in form.fields if form[name].value() not in (None, "", "False", False)}
    assert as_owner.post("/tasks/new/", given).status_code == 302
    again = Task.objects.exclude(pk=first.task_id).get()
    assert Plan.from_json(again.plan) == Plan.from_json(plan)


def test_it_has_no_task_of_somebody_else_to_begin_from(owner: User, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    assert client.get(f"/tasks/new/?like={run_in(owner, State.QUEUED).task_id}").status_code == 404


def test_it_starts_from_a_snapshot(
    as_owner: Client, owner: User, stranger: User, machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    mine, foreign = snapshot_of(machine_of(owner), "logged in"), snapshot_of(machine_of(stranger), "hush-hush")
    page = as_owner.get(f"/tasks/new/?snapshot={mine.pk}").content.decode()
    assert "logged in" in page
    assert "hush-hush" not in page
    assert "start" in errors(send(as_owner, start=f"snapshot:{foreign.pk}"))
    assert send(as_owner, start=f"snapshot:{mine.pk}").status_code == 302
    task = Task.objects.get()
    assert task.snapshot == mine.pk
    assert task.runs.get().branches.get().snapshot == mine


def test_it_says_which_key_is_missing_and_which_is_there(as_owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no <code>ANTHROPIC_API_KEY</code>" in as_owner.get("/tasks/new/").content.decode()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-shown")
    page = as_owner.get("/tasks/new/").content.decode()
    assert "no <code>ANTHROPIC_API_KEY</code>" not in page
    assert "claude-opus-5-5" in page
    assert "sk-never-shown" not in page
    assert as_owner.get("/tasks/new/").context["form"]["provider"].value() == "anthropic"


def test_it_lets_only_staff_say_where_a_key_is_sent(
    as_owner: Client, staff: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever names the address gets the key."""
    for name in ("ANTHROPIC_API_KEY", "GODHAND_COMPATIBLE_KEY"):
        monkeypatch.setenv(name, "sk-never-shown")
    evil = {"provider": "anthropic", "anthropic-base_url": "https://evil.example"}
    assert send(as_owner, **evil).status_code == 302
    assert "base_url" not in Task.objects.get().options
    own = {"provider": "compatible", "compatible-model": "qwen", "compatible-base_url": "https://evil.example"}
    assert "only staff" in errors(send(as_owner, **own))["provider"][0]
    boss = Client()
    boss.force_login(staff)
    assert send(boss, **own).status_code == 302


def test_it_shows_the_call_that_makes_the_same_task(
    as_owner: Client, owner: User, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sales.csv").write_bytes(b"month,north\nMay,3\n")
    monkeypatch.chdir(tmp_path)
    checks = '[[check]]\nname = "it’s “there”"\nkind = "file_exists"\npath = "sales.xlsx"'
    asked = {"checks": checks, "network": "open", "runs": "3", "on_help": "stop"}
    response = send(as_owner, show="python", files=[csv()], **asked)
    assert response.status_code == 200
    assert not Task.objects.exists()
    exec(response.context["code"], {})
    by_call = Task.objects.get()
    send(as_owner, files=[csv()], **asked)
    by_form = Task.objects.exclude(pk=by_call.pk).get()
    facts = ("owner", "goal", "image", "provider", "options", "checks", "limits", "network", "on_help")
    assert [getattr(by_call, name) for name in facts] == [getattr(by_form, name) for name in facts]
    assert (by_call.runs.count(), by_form.runs.count()) == (3, 3)


@pytest.mark.parametrize("kind", SNIPPETS)
def test_it_helps_with_checks_that_can_be_used(kind: str) -> None:
    assert parse_checks(f"[[check]]\n{SNIPPETS[kind]}")


def test_it_refuses_what_no_form_can_send(owner: User) -> None:
    wrongs: list[dict[str, Any]] = [{"runs": 0}, {"runs": True}, {"on_help": "panic"}, {"snapshot": "nowhere"}]
    for wrong in wrongs:
        with pytest.raises(BadTask):
            submit(owner, "Do it.", provider="scripted", options={"script": "chart"}, **wrong)
    files: dict[str, Any] = {"a/x.csv": io.BytesIO(b"1"), "b/x.csv": b"2"}
    with pytest.raises(BadTask, match="name of its own"):
        submit(owner, "Do it.", provider="scripted", options={"script": "chart"}, attachments=files)


def test_it_tells_what_the_service_said(staff: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    client = Client()
    client.force_login(staff)
    with WireServer() as wire:
        wire.will(message(text("OK")))
        place = {"anthropic-base_url": wire.anthropic_url}
        page = client.post("/settings/models/anthropic/test/", place, follow=True).content.decode()
        assert "claude-opus-5-5 says: OK" in page
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong")
        page = client.post("/settings/models/anthropic/test/", place, follow=True).content.decode()
        assert "refused the key in ANTHROPIC_API_KEY" in page
        assert "sk-wrong" not in page


def test_it_names_the_field_of_every_mistake(as_owner: Client) -> None:
    page = send(as_owner, goal="", minutes="soon", network="allowlist", allow="").content.decode()
    for field, words in (
        ("goal", "Goal: say what is to be done."),
        ("minutes", "Minutes: enter a number."),
        ("allow", "Allowlist: list at least one name or address, or turn the network off."),
    ):
        assert f'<a href="#field-{field}">{words}</a>' in page
    assert (
        of_field("Memory, MiB: a number from 256 to 65536.", "Memory, MiB")
        == "Memory, MiB: a number from 256 to 65536."
    )


@pytest.mark.parametrize("path", ["/tasks/new/", "/machines/new/", "/settings/space/", "/settings/people/"])
def test_it_ends_no_path_with_a_slash(staff: User, path: str) -> None:
    client = Client()
    client.force_login(staff)
    crumb = re.search(r'<nav class="crumb".*?</nav>', client.get(path).content.decode())
    assert crumb
    assert not re.sub("<[^>]*>", "", crumb[0]).rstrip().endswith("/")
