"""Sockets say "look again" and nothing else. Whoever may not look is turned away before the handshake ends."""

import logging
from typing import Any, cast

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from redis.exceptions import RedisError

from sandboxes.publish import STAFF_GROUP, MachineChanged, machine_group, owner_group

from .access import Person, visible_machines
from .models import User

log = logging.getLogger(__name__)


class Hints(AsyncJsonWebsocketConsumer):
    group: str | None = None

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

    async def disconnect(self, code: int) -> None:
        if self.group is not None:
            try:
                await self.channel_layer.group_discard(self.group, self.channel_name)
            except (OSError, RedisError) as error:
                log.warning("%s left unsaid: %s", self.group, error)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Nothing a page says changes anything here."""

    async def machine_changed(self, hint: MachineChanged) -> None:
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


class Nowhere(AsyncJsonWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()
