"""All rows in PostgreSQL, as installations of several hosts have them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from godhand_web.cli.processes import wait_until
from sandboxes import network
from tests.home import TEST_HOME
from tests.providers.wire import KEY, WireServer

from .aftermath import nothing_is_left
from .counting import COUNTED, Counting, outcome, submit
from .postgres import Postgres
from .running import Installation, Up

AWAY = 10.0
SLOTS, RUSH = 2, 12
TAKE = """
import json, threading
from django.db import connection
from godhand_web.management.commands.loginlink import owner
from sandboxes.lifecycle import request_machine
from sandboxes.slots import SlotsUsed
person, begin, said = owner(), threading.Barrier(RUSH), []
def take():
    begin.wait()
    try:
        said.append(request_machine(person, image="desktop").pk)
    except SlotsUsed:
        said.append("")
    connection.close()
rush = [threading.Thread(target=take) for _ in range(RUSH)]
[each.start() for each in rush]
[each.join() for each in rush]
print("RESULT" + json.dumps(said))
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Postgres]:
    postgres = Postgres(TEST_HOME / f"{tmp_path.name}-postgres")
    postgres.start()
    yield postgres
    postgres.stop()


@pytest.fixture
def installation(tmp_path: Path, database: Postgres) -> Iterator[Installation]:
    installation = Installation(TEST_HOME / tmp_path.name, {"DATABASE_URL": database.url, "ANTHROPIC_API_KEY": KEY})
    yield installation
    installation.call("down")


def test_it_forks_and_chooses_with_postgresql(installation: Installation) -> None:
    demo = Up(installation, "demo", "--once")
    assert demo.wait_for_end(400) == 0, "".join(demo.lines)
    assert "b3 is the best of 3: 3 of 3 checks passed" in "".join(demo.lines)
    assert not (installation.home / "db" / "godhand.sqlite3").exists()


def test_it_outlives_a_database_that_is_away(installation: Installation, database: Postgres) -> None:
    """For as long as the model thinks and a while longer: its reply finds nobody who could write it down."""
    model = Counting(trouble=database.stop)
    with WireServer() as wire, installation.serving():
        wire.will(*[model.plays] * 10)
        run = submit(installation, wire.anthropic_url)
        assert wait_until(lambda: bool(model.began), 60)
        returns = model.began + AWAY
        assert wait_until(lambda: time.monotonic() > returns, 2 * AWAY)
        database.start()
        result = outcome(installation, run)
    assert result["state"] == "succeeded"
    assert result["told"][:3] == COUNTED
    assert result["seqs"] == list(range(1, len(result["seqs"]) + 1))
    assert model.asked == [0, 1, 1, 2, 3]


def test_it_gives_no_slot_to_two_and_ends_them_also_without_its_database(
    installation: Installation, database: Postgres
) -> None:
    installation.extra |= {"GODHAND_MACHINES": str(SLOTS)}
    up = installation.up()
    up.wait_for_link()
    said = installation.told(TAKE.replace("RUSH", str(RUSH)), timeout=100)
    assert len(said) == RUSH
    assert sum(map(bool, said)) == SLOTS
    assert wait_until(lambda: set(network.owned_ids(installation.host)) == set(filter(None, said)), 60)
    database.stop()
    assert up.stop() == 0
    assert nothing_is_left(installation)
