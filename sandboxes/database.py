"""Where the two databases differ."""

from pathlib import Path

from django.db import connection


def is_missing() -> bool:
    """SQLite's file: for root to look into one that is not there would make it, and services could not write to it."""
    return connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists()


def stand_alone(counter: str) -> None:
    """Where places are counted before one is taken, one at a time: two would both get the last one.

    Until this transaction ends nobody else stands there. SQLite lets in one writer at a time anyway.
    """
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [counter])
