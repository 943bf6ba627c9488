"""Sockets say "look again" and nothing else. Whoever may not look is turned away before the handshake ends."""

import logging
from typing import Any, cast

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from redis.exceptions import RedisError

from agents import publish as runs
from agents.models import Branch
from sandboxes.publish import STAFF_GROUP, LeaseChanged, MachineChanged, machine_group, owner_group
from traces.publish import TraceChanged, trace_group

from .access import Person, visible_machines, visible_runs, visible_traces
from .line import Line
from .models import User

log = logging.getLogger(__name__)
line = Line()


class Hints(AsyncJsonWebsocketConsumer):
    group: str | None = None
    others: tuple[str, ...] = ()

    async def group_for(self, person: Person) -> str | None:
        """The group whose hints this person may hear here, or None."""
        raise NotImplementedError

    async def connect(self) -> None:
        group = await self.group_for(cast(Person, self.scope["user"]))
        if group is None:
            await self.close()
            return
        try:
            await self.channel_layer.group_add(group, self.channel_name)
        except (OSError, RedisError) as error:
            log.warning("no hints for %s: %s", group, error)
            await self.close()
            return
        self.group = group
        await self.accept()
        line.join(self)

    async def disconnect(self, code: int) -> None:
        line.leave(self)
        for group in filter(None, (self.group, *self.others)):
            try:
                await self.channel_layer.group_discard(group, self.channel_name)
            except (OSError, RedisError) as error:
                log.warning("%s left unsaid: %s", group, error)

    async def join(self, *groups: str) -> None:
        """More that the person may hear here as well."""
        try:
            for group in groups:
                await self.channel_layer.group_add(group, self.channel_name)
                self.others = (*self.others, group)
        except (OSError, RedisError) as error:
            log.warning("no hints for %s: %s", groups, error)
            await self.close()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Nothing a page says changes anything here."""

    async def machine_changed(self, hint: MachineChanged) -> None:
        await self.send_json({"type": hint["type"], "id": hint["id"]})

    async def lease_changed(self, hint: LeaseChanged) -> None:
        """With the holder, for the one who has lost control to know it at once."""
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

    async def connect(self) -> None:
        await super().connect()
        person = self.scope["user"]
        if self.group and person:
            await self.join(STAFF_GROUP if person.is_staff else owner_group(person.pk))


class RunHints(Hints):
    """A run's trace, and its machine once there is one."""

    async def group_for(self, person: Person) -> str | None:
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        found = visible_runs(person).filter(pk=self.run_id).values_list("trace_id", flat=True)
        trace_id = await database_sync_to_async(found.first)()
        return trace_group(trace_id) if trace_id else None

    async def connect(self) -> None:
        await super().connect()
        if self.group:
            await self.join_machine()

    async def trace_changed(self, hint: TraceChanged) -> None:
        if not self.others:
            await self.join_machine()
        await super().trace_changed(hint)

    async def join_machine(self) -> None:
        mine = Branch.objects.filter(run=self.run_id, parent=None, machine__isnull=False)
        machine_id = await database_sync_to_async(mine.values_list("machine", flat=True).first)()
        if machine_id:
            await self.join(machine_group(machine_id))


class Nowhere(AsyncJsonWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()
