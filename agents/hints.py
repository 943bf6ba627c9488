"""Messages to the agents' workers. Each is a hint: rows decide, and somebody looks again when one is lost."""

import logging

log = logging.getLogger(__name__)


def send(task: str, row_id: str, *, delay: float = 0) -> None:
    """Have one of `tasks.py` look at a row. A broker that is away is a line in the log, and nothing else."""
    from sandboxes.tasks import BrokerDown

    from . import tasks

    try:
        getattr(tasks, task).apply_async((row_id,), queue="agents", retry=False, countdown=delay)
    except (OSError, BrokerDown) as error:
        log.warning("%s of %s waits until somebody looks again: %s", task, row_id, error)
