"""What a run's socket sends: the newest steps, once for all, to those who read and still may."""

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.test import Client

from agents.models import Branch, Run, State
from godhand_web import consumers, newest
from godhand_web.asgi import application
from godhand_web.models import User
from sandboxes.models import Lease, Machine
from sandboxes.models import State as MachineState
from sandboxes.publish import lease_changed, machine_changed
from traces.events import Actor

from .task_rows import a_step, child_of, machine_of, recorder_of, run_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url", "image")]
QUIET = 0.3


@pytest.fixture
def run(owner: User) -> Run:
    return run_in(owner, State.RUNNING, steps=9)


@pytest.fixture
def cookie(owner: User) -> bytes:
    client = Client()
    client.force_login(owner)
    return client.cookies.output(header="", attrs=[]).strip().encode()


class Page(WebsocketCommunicator):
    def __init__(self, run: Run, cookie: bytes, query: str = "") -> None:
        headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookie)]
        super().__init__(application, f"/ws/runs/{run.pk}/{query}", headers)

    async def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self.receive_from(5))["shown"]
        return found


async def add_step(run: Run) -> None:
    await database_sync_to_async(lambda: a_step(run.branches.get()))()


async def add_note(run: Run) -> None:
    """One event, so one hint: whoever is shown it has heard all there is to hear."""
    await database_sync_to_async(lambda: recorder_of(run.branches.get()).message(Actor.HUMAN, "Go on.", turn=0))()


def test_it_sends_the_newest_steps_and_no_more_than_is_read(run: Run, cookie: bytes) -> None:
    async def watch() -> list[dict[str, Any]]:
        page = Page(run, cookie)
        assert (await page.connect())[0]
        await add_step(run)
        seen = [await page.shown()]
        await add_step(run)
        assert await page.receive_nothing(QUIET)
        await page.send_to(text_data="read")
        seen.append(await page.shown())
        await page.disconnect()
        return seen

    first, second = async_to_sync(watch)()
    assert first["more"]
    assert len(second["steps"]) == newest.STEPS
    assert sum("Ran echo fresh" in step["act"] for step in second["steps"]) == 2
    assert second["revision"] > first["revision"]
    assert "csrf" not in json.dumps(second)


def test_it_draws_once_for_all_who_watch(run: Run, cookie: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    drawings: list[str] = []

    def draw(run_id: str, branch: str) -> str:
        drawings.append(run_id)
        return newest.drawn(run_id, branch)

    monkeypatch.setattr(newest.newest, "_draw", draw)

    async def watch() -> None:
        pages = [Page(run, cookie) for _ in range(8)]
        for page in pages:
            await page.connect()
        await add_step(run)
        told = await asyncio.gather(*(page.shown() for page in pages))
        assert len(told) == len(pages)
        for page in pages:
            await page.disconnect()

    async_to_sync(watch)()
    assert 1 <= len(drawings) < 8


def test_it_hears_who_drives_the_machine_of_the_branch_that_is_shown(run: Run, cookie: bytes) -> None:
    child = child_of(run, State.RUNNING)
    assert child.machine
    held = Lease.objects.create(machine=child.machine, holder="user:1")

    async def watch() -> Any:
        page = Page(run, cookie, "?branch=b1")
        assert (await page.connect())[0]
        await database_sync_to_async(lease_changed)(held)
        hint = json.loads(await page.receive_from(5))
        await page.disconnect()
        return hint

    hint = async_to_sync(watch)()
    assert (hint["type"], hint["id"]) == ("lease.changed", child.machine_id)


def test_it_hears_the_machine_that_takes_the_place_of_one_that_failed(run: Run, cookie: bytes) -> None:
    branch = run.branches.get()
    failed, other = branch.machine, machine_of(branch, State.RUNNING)
    assert failed
    old, held = (Lease.objects.create(machine=machine, holder="user:1") for machine in (failed, other))

    def replace() -> None:
        Machine.objects.filter(pk=failed.pk).update(state=MachineState.FAILED)
        machine_changed(failed)
        Branch.objects.filter(pk=branch.pk).update(machine=other)

    def tell() -> None:
        lease_changed(old)
        lease_changed(held)

    async def watch() -> list[tuple[str, str]]:
        page = Page(run, cookie)
        assert (await page.connect())[0]
        await add_note(run)
        await page.shown()
        await page.send_to(text_data="read")
        await database_sync_to_async(replace)()
        hints = [json.loads(await page.receive_from(5))]
        await add_note(run)
        await page.shown()
        await database_sync_to_async(tell)()
        hints.append(json.loads(await page.receive_from(5)))
        await page.disconnect()
        return [(hint["type"], hint["id"]) for hint in hints]

    assert async_to_sync(watch)() == [("machine.changed", failed.pk), ("lease.changed", other.pk)]


@pytest.mark.parametrize("gone", ["login", "right"])
def test_it_sends_nothing_to_who_may_not_look_any_more(
    run: Run, cookie: bytes, owner: User, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setattr(consumers, "TRUSTED_SECONDS", 0.0)

    def end() -> None:
        if gone == "login":
            Session.objects.all().delete()
        else:
            User.objects.filter(pk=owner.pk).update(is_active=False)

    async def watch() -> Any:
        page = Page(run, cookie)
        assert (await page.connect())[0]
        await database_sync_to_async(end)()
        await add_step(run)
        return await page.receive_output(5)

    assert async_to_sync(watch)()["type"] == "websocket.close"
