from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis


def test_it_is_alive_without_a_database(client: Client) -> None:
    assert client.get("/healthz").json() == {"alive": True}


@pytest.mark.usefixtures("image")
def test_it_is_ready_when_every_need_is_met(client: Client, db: None, redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    redis.set("alive:agents", 1, ex=60)
    assert client.get("/readyz").json()["workers"] == "nobody serves machines"
    redis.set("alive:machines", 1, ex=60)
    needs = dict.fromkeys(("database", "migrations", "redis", "workers", "image"), "ok")
    assert client.get("/readyz").json() == {"ready": True, **needs}
    redis.delete("alive:agents", "alive:machines")


@pytest.mark.usefixtures("redis_url")
def test_it_names_what_is_missing(client: Client, db: None, image: Path, settings: LazySettings) -> None:
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
        "image": "The image “desktop” is not built on this host; run ./godhand image build desktop.",
    }
