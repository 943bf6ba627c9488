"""What each of several attempts from one moment is told."""

from collections.abc import Sequence

from .errors import BadTask

MOST_WAYS = 64
OWN_WAY = "You are attempt {} of {}: the others begin here, too. Take a way of your own."


def ways(n: int, hints: Sequence[str] = (), most: int = MOST_WAYS) -> list[str]:
    """Those with hints first. Raises BadTask."""
    if not max(1, len(hints)) <= n <= most or not all(isinstance(hint, str) and hint.strip() for hint in hints):
        raise BadTask(f"There must be from 1 to {most} attempts, and no more hints than attempts.")
    return [*hints, *(OWN_WAY.format(number, n) for number in range(len(hints) + 1, n + 1))]
