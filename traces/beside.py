"""An event loop that is kept beside the threads of a process, and with it the connections that were made in it.

To make both anew for each hint takes fifty times as long as the hint itself.
"""

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any

_lock = Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""By process: a thread is not there any more after a fork."""


def run(work: Coroutine[Any, Any, None]) -> None:
    """To its end, in that loop. Raises what it raises."""
    asyncio.run_coroutine_threadsafe(work, _loop()).result()


def _loop() -> asyncio.AbstractEventLoop:
    with _lock:
        if os.getpid() not in _loops:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="beside", daemon=True).start()
        return _loops[os.getpid()]
