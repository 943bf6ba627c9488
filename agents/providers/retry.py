"""Asking again when asking again makes sense."""

import random
import time
from collections.abc import Callable, Sequence

from ..errors import ProviderError
from ..turns import Reply, Turn
from .base import Provider, ToolSpec

ATTEMPTS = 6
FIRST = 1.0
LONGEST = 60.0


def complete_with_patience(
    provider: Provider,
    system: str,
    turns: Sequence[Turn],
    tools: Sequence[ToolSpec],
    *,
    desktop: bool = True,
    attempts: int = ATTEMPTS,
    wait: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> Reply:
    """One reply, after at most `attempts` requests.

    `wait` sleeps so many seconds between two of them; what it raises ends the asking, which is how a run that was
    cancelled meanwhile gets out. Raises ProviderError: a permanent one at once, the last one otherwise.
    """
    for attempt in range(attempts):
        try:
            return provider.complete(system, turns, tools, desktop=desktop)
        except ProviderError as error:
            if error.permanent or attempt == attempts - 1:
                raise
            pause = pause_before(attempt + 1, error.retry_after, chance())
        wait(pause)
    raise ValueError("attempts must be at least 1.")


def pause_before(attempt: int, retry_after: float | None, chance: float) -> float:
    """Seconds before the attempt of that number, of which the first is 0.

    Anything up to a limit that doubles each time, so that branches that failed together do not come back together.
    A time that the service named is kept, and spread a little too; no pause is longer than LONGEST.
    """
    limit = min(LONGEST, FIRST * 2.0 ** (attempt - 1))
    if retry_after is None:
        return limit * chance
    return min(LONGEST, max(0.0, retry_after) + FIRST * chance)
