"""A new token for a machine's guest: from then on the machine itself refuses, and cuts off, whoever has the old one.

The row has the new token before the guest does, with the old one beside it: whatever dies between the two, the next
who comes makes them agree.
"""

import secrets
from contextlib import suppress

from django.db import transaction

from . import lifecycle
from .errors import Gone, Refused
from .guest.client import Guest
from .models import Machine

FORMER = "former_token"


def rekey(machine: Machine) -> None:
    """Raises Refused when neither token opens the machine. One whose guest does not answer gets it later."""
    agree(machine)
    with transaction.atomic():
        fresh = Machine.objects.select_for_update().get(pk=machine.pk)
        token = fresh.handle["token"]
        fresh.handle = {**fresh.handle, "token": secrets.token_urlsafe(32), FORMER: token}
        fresh.save(update_fields=["handle"])
    machine.handle = fresh.handle
    agree(machine)


def agree(machine: Machine) -> None:
    """Give the guest the row's token, if it still has the one before."""
    former = machine.handle.get(FORMER)
    if not former:
        return
    endpoint = lifecycle.attach(machine).endpoint()
    with suppress(Gone):
        try:
            with Guest(endpoint.host, endpoint.guest_port, endpoint.token) as guest:
                guest.ping()
        except Refused:
            with Guest(endpoint.host, endpoint.guest_port, former) as guest:
                guest.rekey(endpoint.token)
