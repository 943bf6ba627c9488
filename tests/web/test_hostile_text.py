from collections.abc import Callable

import pytest
from django.test import Client

from godhand_web.models import User
from sandboxes.models import Event, Machine, Screenshot, State

from .conftest import MachineOf, SnapshotOf

pytestmark = pytest.mark.usefixtures("redis_url", "image")

PAYLOADS = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</title><svg/onload=alert(1)>",
    "</template><iframe src=javascript:alert(1)>",
]
HEADERS = [{}, {"X-Fragment": "1"}]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("state", [State.READY, State.BOOTING, State.STOPPED, State.FAILED, State.LOST])
@pytest.mark.parametrize("headers", HEADERS)
def test_it_shows_hostile_text_as_text(
    as_owner: Client,
    owner: User,
    machine_of: MachineOf,
    screenshot_of: Callable[[Machine], Screenshot],
    snapshot_of: SnapshotOf,
    payload: str,
    state: State,
    headers: dict[str, str],
) -> None:
    machine = machine_of(owner, state, name=payload, detail=payload)
    shot = screenshot_of(machine)
    Screenshot.objects.update(label=payload)
    Machine.objects.update(made_from=snapshot_of(machine, label=payload))
    Event.objects.create(machine=machine, state=state, text=payload)
    at = f"/machines/{machine.pk}/"
    lists = ("/", "/machines/", "/machines/?tab=stopped", "/machines/?tab=ended")
    for page in (*lists, at, f"{at}?tab=details", f"{at}?tab=snapshots", f"{at}destroy/"):
        assert payload not in as_owner.get(page, headers=headers).content.decode(), page
    shown = as_owner.get(f"{at}screenshots/{shot.pk}/", headers=headers).content.decode()
    assert payload not in shown


def test_it_gives_nonsense_in_the_address_back_to_nobody(as_owner: Client) -> None:
    page = as_owner.get("/machines/?tab=<script>&state=<script>&page=<script>").content.decode()
    assert "<script>" not in page.replace('<script type="module"', "")
