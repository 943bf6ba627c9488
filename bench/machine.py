"""Real machines for measuring, made by the backend itself and gone afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.ids import new_id
from sandboxes.images import store


@contextmanager
def fresh_machine(image: str) -> Iterator[GvisorSandbox]:
    sandbox = GvisorSandbox.create(new_id(), store.find(image), Options())
    try:
        sandbox.start()
        yield sandbox
    finally:
        sandbox.destroy()
