"""A snapshot stays while a branch has yet to begin from it."""

from typing import Any

from django.db import models

from .states import ENDED


def kept_while_needed(collector: Any, field: Any, branches: Any, using: str) -> None:
    """For `on_delete`. Raises ProtectedError when one of the branches has no machine yet."""
    waiting = {branch for branch in branches if branch.machine_id is None and branch.state not in ENDED}
    if waiting:
        raise models.ProtectedError("A branch that waits for a machine begins from this snapshot.", waiting)
    models.SET_NULL(collector, field, branches, using)
