"""What the settings say of the installation itself."""

import pytest
from django.test import Client
from redis import Redis

from godhand_web.models import User

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def test_it_says_which_godhand_this_is_and_what_it_carries(as_owner: Client) -> None:
    response = as_owner.get("/settings/")
    about, page = response.context["about"], response.content.decode()
    assert about.version in page
    assert about.licence == "Apache-2.0"
    assert {part.rpartition("-")[0] for part in about.parts} == {"inter", "jetbrains-mono", "lucide", "novnc"}
    assert "<code>static/vendor/</code>" in page


def test_it_shows_what_the_doctor_finds_to_administrators_alone(as_owner: Client, staff: User, redis_url: str) -> None:
    with Redis.from_url(redis_url) as redis:
        redis.delete("alive:machines")
    client = Client()
    client.force_login(staff)
    response = client.get("/settings/")
    found = {need.name: need.ok for need in response.context["needs"]}
    assert found["redis"]
    assert not found["machine workers"]
    assert "are not there: ./godhand logs machines says why" in response.content.decode()
    assert "./godhand doctor" not in as_owner.get("/settings/").content.decode()
