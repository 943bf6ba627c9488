"""One at a time does something to a machine that must not be done twice at once: save it, stop it, set it back.

One process does all that is done to a host's machines, in several threads.
"""

from threading import Lock, RLock
from typing import Any
from weakref import WeakValueDictionary

_turns: "WeakValueDictionary[str, Any]" = WeakValueDictionary()
_giving = Lock()


def turn(machine_id: str) -> Any:
    """To be held, also again by who holds it. What the machine's row says is read only then."""
    with _giving:
        return _turns.setdefault(machine_id, RLock())
