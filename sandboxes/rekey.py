"""A new token for a machine's guest: from then on the machine itself refuses, and cuts off, whoever has the old one.

The row has the new token before the guest does, with those before it beside it until the guest is known to have it:
whatever dies between the two, and however many come at once, the next who comes makes them agree.
"""

import secrets
import time
from contextlib import suppress

from django.db import transaction

from . import lifecycle
from .errors import Gone, Refused
from .guest.client import Guest
from .guest.connection import Dropped
from .models import Machine

FORMER, FORMER_IN_OLD_ROWS = "former_tokens", "former_token"
MOST_FORMER = 8
TRIES = 8
PATIENCE = 15.0
"""Seconds after which no token is tried any more: a guest may answer each as late as it can."""


def rekey(machine: Machine) -> None:
    """Raises Refused when no token opens the machine. One whose guest does not answer gets it later."""
    with transaction.atomic():
        fresh = Machine.objects.select_for_update().get(pk=machine.pk)
        *newer, oldest = fresh.handle["token"], *_former(fresh)
        _write(fresh, [secrets.token_urlsafe(32), *newer[: MOST_FORMER - 1], oldest])
    machine.handle = fresh.handle
    agree(machine)


def agree(machine: Machine) -> None:
    """Give the guest the row's token, if it still has one of those before."""
    if not _former(machine):
        return
    ends = time.monotonic() + PATIENCE
    with suppress(Gone):
        for _ in range(TRIES):
            # Refused, or cut off: others who came at the same time have given it theirs meanwhile.
            with suppress(Refused, Dropped):
                _give(machine, ends)
                return
            machine.refresh_from_db(fields=["handle"])
        _give(machine, ends)


def _give(machine: Machine, ends: float) -> None:
    """Raises Gone, and Refused when no token opens the machine."""
    endpoint = lifecycle.attach(machine).endpoint()
    for token in (endpoint.token, *_former(machine)):
        if time.monotonic() > ends:
            raise Gone("The machine's guest takes too long over its new token.")
        try:
            with Guest(endpoint.host, endpoint.guest_port, token) as guest:
                if token == endpoint.token:
                    guest.ping()
                else:
                    guest.rekey(endpoint.token)
            _forget_those_before(machine, endpoint.token)
            return
        except Refused as refused:
            refusal = refused
    raise refusal


def _forget_those_before(machine: Machine, token: str) -> None:
    """The guest has this one, or a newer one from somebody else by now."""
    with transaction.atomic():
        fresh = Machine.objects.select_for_update().get(pk=machine.pk)
        tokens = [fresh.handle["token"], *_former(fresh)]
        if token in tokens:
            _write(fresh, tokens[: tokens.index(token) + 1])
    machine.handle = fresh.handle


def _former(machine: Machine) -> list[str]:
    """The newest first. The oldest is one that the guest is known to have had."""
    old = machine.handle.get(FORMER_IN_OLD_ROWS)
    return [*machine.handle.get(FORMER, []), *([old] if old else [])]


def _write(machine: Machine, tokens: list[str]) -> None:
    others = {name: value for name, value in machine.handle.items() if name not in (FORMER, FORMER_IN_OLD_ROWS)}
    machine.handle = {**others, "token": tokens[0], **({FORMER: tokens[1:]} if tokens[1:] else {})}
    machine.save(update_fields=["handle"])
