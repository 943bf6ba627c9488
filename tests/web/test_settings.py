"""The settings: what a browser remembers, what an administrator keeps, and what a person is told."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from agents import model_keys, vault
from agents.models import Branch, State
from agents.notify import page_of
from agents.placeholders import Secrets
from agents.providers import registry
from agents.standing import ModelKey, Webhook
from godhand_web.models import User
from godhand_web.pages.keyboard import GROUPS
from tests.providers.wire import KEY, WireServer
from tests.providers.wire.replies import message
from tests.providers.wire.replies import text as said
from traces.retention import Policy

from .site import ROOT
from .task_rows import child_of, run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")

LOOKS = {"theme": "dark", "keys": "off", "density": "compact", "motion": "reduce", "notify_help": "1"}


@pytest.fixture
def as_staff(staff: User) -> Client:
    client = Client()
    client.force_login(staff)
    return client


def test_it_remembers_how_this_browser_looks_and_listens(as_owner: Client) -> None:
    assert as_owner.post("/settings/", {**LOOKS, "steps": "77"}).status_code == 302
    page = as_owner.get("/tasks/").content.decode()
    assert '<html lang="en" data-theme="dark" data-density="compact" data-motion="reduce">' in page
    assert 'data-keys="off"' in page
    assert 'data-notify="help"' in page
    assert as_owner.get("/tasks/new/").context["form"]["steps"].value() == "77"
    as_owner.post("/settings/", {"theme": "system", "keys": "on"})
    assert '<html lang="en" data-theme="system">' in as_owner.get("/tasks/").content.decode()


def test_it_loses_nothing_on_a_mistake(as_owner: Client) -> None:
    assert "Nothing was saved" not in as_owner.get("/settings/").content.decode()
    response = as_owner.post("/settings/", {**LOOKS, "steps": "many", "money": "4.5"})
    assert response.status_code == 400
    page = response.content.decode()
    assert 'value="many"' in page
    assert 'value="4.5"' in page
    assert "Steps: enter a whole number." in page
    assert checked_in(page) == LOOKS
    as_owner.post("/settings/", LOOKS)
    plain = {"theme": "light", "keys": "on", "density": "comfortable", "motion": "system"}
    page = as_owner.post("/settings/", {**plain, "steps": "many"}).content.decode()
    assert checked_in(page) == plain
    assert checked_in(as_owner.get("/settings/").content.decode()) == LOOKS


def checked_in(page: str) -> dict[str, str]:
    """What the form of this browser shows as chosen."""
    form = page[page.index('id="browser"') :].partition("</form>")[0]
    return dict(re.findall(r'name="(\w+)" value="(\w+)" checked', form))


def test_it_keeps_a_key_that_is_never_shown(
    as_staff: Client, as_owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    at = "/settings/models/anthropic/key/"
    assert as_owner.post(at, {"key": KEY}).status_code == 404
    assert as_staff.post(at, {"key": KEY}, follow=True).status_code == 200
    assert KEY not in ModelKey.objects.get().sealed
    assert KEY not in as_staff.get("/settings/").content.decode()
    with WireServer() as wire:
        wire.will(message(said("OK")))
        place = {"anthropic-base_url": wire.anthropic_url}
        page = as_staff.post("/settings/models/anthropic/test/", place, follow=True).content.decode()
        assert "claude-opus-5-5 says: OK" in page
    assert vault.redactor_for(Secrets()).text(f"the key is {KEY}") == "the key is [hidden]"
    assert as_owner.get("/tasks/new/").context["form"]["provider"].value() == "anthropic"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
    assert 'action="/settings/models/anthropic/key/"' not in as_staff.get("/settings/").content.decode()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    as_staff.post(at, {"forget": "1"})
    assert registry.trouble("anthropic", model_keys.of)


@pytest.mark.parametrize("key", ["", "short", "has a space in it", "näh-nicht-ascii", "x" * 1001])
def test_it_takes_nothing_that_cannot_be_a_key(as_staff: Client, key: str) -> None:
    page = as_staff.post("/settings/models/anthropic/key/", {"key": key}, follow=True).content.decode()
    assert "That cannot be a key" in page
    assert not ModelKey.objects.exists()


def test_it_lets_an_administrator_choose_what_goes_by_itself(as_staff: Client, settings: LazySettings) -> None:
    settings.TRACE_DAYS, settings.PICTURE_DAYS = 90, 0
    assert Policy.of_settings() == Policy(90, 0)
    as_staff.post("/settings/retention/", {"traces": "0", "pictures": "14"})
    assert Policy.of_settings() == Policy(0, 14)
    response = as_staff.post("/settings/retention/", {"traces": "-1", "pictures": "soon"})
    assert (response.status_code, Policy.of_settings()) == (400, Policy(0, 14))
    assert 'value="soon"' in response.content.decode()
    as_staff.post("/settings/retention/", {"traces": "", "pictures": ""})
    assert Policy.of_settings() == Policy(90, 0)


def test_it_shows_the_secret_of_a_webhook_once(as_owner: Client, settings: LazySettings) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    sent = {"url": "http://127.0.0.1:9/hook", "on_help": "1"}
    page = as_owner.post("/settings/webhook/", sent).content.decode()
    secret = re.search(r"gh_hook_[\w-]{40,}", page)
    assert secret
    hook = Webhook.objects.get()
    assert (hook.on_help, hook.on_end) == (True, False)
    assert secret[0] not in as_owner.get("/settings/").content.decode()
    assert "It does not answer" in as_owner.post("/settings/webhook/test/", follow=True).content.decode()
    as_owner.post("/settings/webhook/", {"forget": "1"})
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://localhost:8800/", "file:///etc/passwd", ""])
def test_it_takes_no_webhook_that_leads_inside(as_owner: Client, url: str) -> None:
    response = as_owner.post("/settings/webhook/", {"url": url})
    assert response.status_code == 400
    assert 'id="hook-error"' in response.content.decode()
    assert not Webhook.objects.exists()


def test_it_tells_a_browser_who_waits_and_what_is_new(as_owner: Client, owner: User, stranger: User) -> None:
    run_in(stranger, State.NEEDS_HELP, steps=1)
    asking = run_in(owner, State.NEEDS_HELP, goal="Pay the bill", steps=1)
    Branch.objects.filter(run=asking).update(state_since=timezone.now())
    since = (timezone.now() - timedelta(seconds=30)).isoformat()
    found = as_owner.get("/attention/", {"since": since}).json()
    assert (found["waiting"], [each["title"] for each in found["news"]]) == (1, ["Pay the bill"])
    assert found["news"][0]["url"] == f"/tasks/{asking.task_id}/runs/{asking.pk}/"
    assert as_owner.get("/attention/", {"since": found["now"]}).json()["news"] == []
    assert as_owner.get("/attention/", {"since": "yesterday"}).json()["waiting"] == 1


def test_it_leads_to_the_branch_that_asks(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    child = child_of(run, State.NEEDS_HELP)
    Branch.objects.filter(pk=child.pk).update(state_since=timezone.now())
    since = (timezone.now() - timedelta(seconds=30)).isoformat()
    found = as_owner.get("/attention/", {"since": since}).json()
    assert (found["waiting"], [each["url"] for each in found["news"]]) == (1, [page_of(child)])
    assert page_of(child) == f"/tasks/{run.task_id}/runs/{run.pk}/?branch=b1"


def test_it_lists_every_key_that_a_page_has() -> None:
    lines = (line for group in GROUPS.values() for line in group.lines)
    listed = {key for pressed, _ in lines for key in (pressed, *pressed.split())}
    arrows = {"ArrowLeft": "←", "ArrowRight": "→"}
    found = {
        key
        for page in Path(ROOT / "templates").rglob("*.html")
        for key in re.findall(r'data-key="([^"{]+)"', page.read_text())
    }
    assert {key for key in found if arrows.get(key, key) not in listed} == set()


def test_it_lists_what_the_sheet_of_a_page_says(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=1)
    settings_page = as_owner.get("/settings/").content.decode()
    sheets = {"run": f"/tasks/{run.task_id}/runs/{run.pk}/", "wall": "/machines/wall/"}
    for group, address in sheets.items():
        sheet = as_owner.get(address).content.decode().partition('<dialog id="keys"')[2]
        for _, does in GROUPS[group].lines:
            assert f"<dd>{does}</dd>" in sheet
            assert f"<dd>{does}</dd>" in settings_page
