import socket
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis


def test_it_is_alive_without_a_database(client: Client) -> None:
    assert client.get("/healthz").json() == {"alive": True}


@pytest.mark.usefixtures("image", "workers")
def test_it_is_ready_when_every_need_is_met(client: Client, db: None, redis_url: str, gate: socket.socket) -> None:
    needs = dict.fromkeys(("database", "migrations", "redis", "workers", "beat", "gate", "image"), "ok")
    assert client.get("/readyz").json() == {"ready": True, **needs}
    Redis.from_url(redis_url).delete("alive:machines")
    assert client.get("/readyz").json() == {"ready": False, **needs, "workers": "nobody serves machines"}
    Redis.from_url(redis_url).delete("alive:beat")
    assert "does not beat" in client.get("/readyz").json()["beat"]


@pytest.mark.usefixtures("redis_url")
def test_it_names_what_is_missing(
    client: Client, db: None, image: Path, settings: LazySettings, gate: socket.socket
) -> None:
    gate.close()
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    (image / "manifest.json").unlink()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {
        "ready": False,
        "database": "ok",
        "migrations": "ok",
        "redis": "does not answer",
        "workers": "unknown, Redis does not answer",
        "beat": "unknown, Redis does not answer",
        "gate": "does not answer; ./godhand logs gate has the details",
        "image": "The image “desktop” is not built on this host; run ./godhand image build desktop.",
    }
