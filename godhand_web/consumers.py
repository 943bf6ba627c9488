"""Sockets say "look again", a run's also what is new. Whoever may not look is turned away in the handshake."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError
from django.http import Http404
from redis.exceptions import RedisError

from agents import publish as runs
from agents.models import Branch
from sandboxes.models import ENDED
from sandboxes.publish import STAFF_GROUP, LeaseChanged, MachineChanged, machine_group, owner_group
from traces.publish import TraceChanged, trace_group

from .access import Person, teammates, visible_machines, visible_runs, visible_traces
from .layer import Layer
from .models import User
from .newest import newest
from .trust import TRUSTED_SECONDS, trust

log = logging.getLogger(__name__)

SERVICE_RESTART = 4012
"""1012 in the range that Daphne lets an application use."""


class Hints(AsyncJsonWebsocketConsumer):
    heard: tuple[str, ...] = ()

    async def __call__(self, *asgi: Any) -> None:
        """Channels tells nobody of a handler that has raised: hints for it would be kept for ever."""
        try:
            await super().__call__(*asgi)
        finally:
            await self.leave(*self.heard)
            cast(Layer, self.channel_layer).drop(self.channel_name)

    async def group_for(self, person: Person) -> str | None:
        """The group whose hints this person may hear here, or None."""
        raise NotImplementedError

    async def others_for(self, person: Person) -> Sequence[str]:
        """More that somebody who may hear that group may hear here as well."""
        return ()

    async def connect(self) -> None:
        """Accepts once all is heard: what a page asks for after that, and what it is told, leave no gap."""
        person = cast(Person, self.scope["user"])
        group = await self.group_for(person)
        if group is None or not await self.join(group, *await self.others_for(person)):
            await self.close()
            return
        await self.accept()

    async def disconnect(self, code: int) -> None:
        await self.leave(*self.heard)

    async def leave(self, *groups: str) -> None:
        for group in groups:
            try:
                await self.channel_layer.group_discard(group, self.channel_name)
            except (OSError, RedisError) as error:
                log.warning("%s left unsaid: %s", group, error)
        self.heard = tuple(group for group in self.heard if group not in groups)

    async def join(self, *groups: str) -> bool:
        """False when Redis does not answer."""
        try:
            for group in groups:
                await self.channel_layer.group_add(group, self.channel_name)
                self.heard = (*self.heard, group)
        except (OSError, RedisError) as error:
            log.warning("no hints for %s: %s", groups, error)
            return False
        return True

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Nothing a page says changes anything here."""

    async def hints_lost(self, _: dict[str, str]) -> None:
        """Redis went away: only a page that connects and looks again knows what it has missed."""
        await self.close(code=SERVICE_RESTART)

    async def machine_changed(self, hint: MachineChanged) -> None:
        await self.send_json({"type": hint["type"], "id": hint["id"]})

    async def lease_changed(self, hint: LeaseChanged) -> None:
        """With the holder, for the one who has lost control to know it at once."""
        await self.send_json(dict(hint))

    async def lease_changing(self, hint: LeaseChanged) -> None:
        await self.send_json(dict(hint))

    async def trace_changed(self, hint: TraceChanged) -> None:
        await self.send_json({"type": hint["type"], "id": hint["id"], "seq": hint["seq"]})

    async def run_changed(self, hint: runs.RunChanged) -> None:
        await self.send_json({"type": hint["type"], "id": hint["id"]})


class MachineListHints(Hints):
    async def group_for(self, person: Person) -> str | None:
        if not isinstance(person, User) or not person.is_active:
            return None
        return STAFF_GROUP if person.is_staff else owner_group(person.pk)

    async def others_for(self, person: Person) -> Sequence[str]:
        return [owner_group(mate) for mate in await database_sync_to_async(teammates)(person)]


class MachineHints(Hints):
    async def group_for(self, person: Person) -> str | None:
        machine_id: str = self.scope["url_route"]["kwargs"]["machine_id"]
        seen = await database_sync_to_async(visible_machines(person).filter(pk=machine_id).exists)()
        return machine_group(machine_id) if seen else None


class TraceHints(Hints):
    async def group_for(self, person: Person) -> str | None:
        trace_id: str = self.scope["url_route"]["kwargs"]["trace_id"]
        seen = await database_sync_to_async(visible_traces(person).filter(pk=trace_id).exists)()
        return trace_group(trace_id) if seen else None


class TaskListHints(Hints):
    """Runs that come and go, and machines that do."""

    async def group_for(self, person: Person) -> str | None:
        if not isinstance(person, User) or not person.is_active:
            return None
        return runs.STAFF_GROUP if person.is_staff else runs.owner_group(person.pk)

    async def others_for(self, person: Person) -> Sequence[str]:
        assert isinstance(person, User)
        machines = STAFF_GROUP if person.is_staff else owner_group(person.pk)
        mates = await database_sync_to_async(teammates)(person)
        return [machines, *(of(mate) for mate in mates for of in (runs.owner_group, owner_group))]


class RunHints(Hints):
    """A run's newest steps as they are made, and hints of its machine once there is one, also of one that replaces it.

    A page that was sent something says when it has read it, and is sent no more until then: one that has stopped
    reading costs nothing.
    """

    unread = behind = settled = False
    sending: asyncio.Task[None] | None = None
    looked_at = 0.0

    async def group_for(self, person: Person) -> str | None:
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        found = visible_runs(person).filter(pk=self.run_id).values_list("trace_id", flat=True)
        trace_id = await database_sync_to_async(found.first)()
        return trace_group(trace_id) if trace_id else None

    async def connect(self) -> None:
        self.branch = parse_qs(self.scope["query_string"].decode()).get("branch", [""])[0]
        self.looked_at = time.monotonic()
        await super().connect()

    async def disconnect(self, code: int) -> None:
        if self.sending:
            self.sending.cancel()
        await super().disconnect(code)

    async def trace_changed(self, hint: TraceChanged) -> None:
        try:
            heard = self.settled or await self.hear_machine()
        except DatabaseError as error:
            log.warning("run %s cannot be followed: %s", self.run_id, error)
            heard = False
        if not heard:
            await self.close(code=SERVICE_RESTART)
            return
        self.behind = True
        self.catch_up()

    async def machine_changed(self, hint: MachineChanged) -> None:
        """It may have failed, and only then a branch gets another: no step has to ask which one it has."""
        self.settled = False
        await super().machine_changed(hint)

    async def hear_machine(self) -> bool:
        """The one that the branch has now, and no other. False when Redis does not answer."""
        found = await self.machine()
        groups = [machine_group(found[0])] if found else []
        await self.leave(*(group for group in self.heard[1:] if group not in groups))
        self.settled = found is not None and found[1] not in ENDED
        return await self.join(*(group for group in groups if group not in self.heard))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """The page has read what it was sent."""
        self.unread = False
        self.catch_up()

    def catch_up(self) -> None:
        """Beside the hints, which do not wait for it."""
        if self.behind and not self.unread:
            self.behind, self.unread = False, True
            self.sending = asyncio.create_task(self.send_newest())

    async def send_newest(self) -> None:
        try:
            if await self.may_still_look():
                await self.send(text_data=await newest.ask(self.run_id, self.branch))
                return
        except (DatabaseError, ObjectDoesNotExist, Http404) as error:
            log.warning("run %s cannot be shown: %s", self.run_id, error)
        await self.close(code=SERVICE_RESTART)

    async def may_still_look(self) -> bool:
        if time.monotonic() - self.looked_at < TRUSTED_SECONDS:
            return True
        self.looked_at = time.monotonic()
        return await trust.ask(self.scope["session"], self.run_id)

    async def others_for(self, person: Person) -> Sequence[str]:
        found = await self.machine()
        return [machine_group(found[0])] if found else []

    async def machine(self) -> tuple[str, str] | None:
        """Its id and state; None before the branch has one."""
        shown = {"name": self.branch} if self.branch else {"parent": None}
        mine = Branch.objects.filter(run=self.run_id, machine__isnull=False, **shown)
        return await database_sync_to_async(mine.values_list("machine", "machine__state").first)()


class Nowhere(AsyncJsonWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()
