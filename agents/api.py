"""The verbs of a task, for pages, commands and other programs alike: given this goal and this image, return a trace."""

import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from django.conf import settings
from django.db import transaction
from PIL import Image

from sandboxes.display.screen import Box, Screen
from sandboxes.images import store
from sandboxes.network import Policy
from traces import lifecycle as traces
from traces.models import Blob, Event, Reference, Trace
from traces.payloads import Sha256
from traces.queries import stored
from traces.storage import default_store

from . import lifecycle
from .budget import Limits
from .checkers import references as checkers
from .delivery import clean_name, media_type
from .errors import BadTask
from .models import Attachment, Branch, Run, Task
from .providers import registry
from .verify import parse_checks, to_json

MOST_ATTACHMENTS = 100
LONGEST_GOAL = 50_000
POLL = 0.1

Attachable = Path | bytes | BinaryIO


def submit(
    owner: Any,
    goal: str,
    *,
    image: str = "desktop",
    provider: str = "anthropic",
    options: Mapping[str, Any] | None = None,
    attachments: Mapping[str, Attachable] | None = None,
    checks: str | Sequence[Mapping[str, Any]] = (),
    limits: Mapping[str, Any] | None = None,
    network: Mapping[str, Any] | None = None,
    keep_machine: bool = False,
) -> Run:
    """A queued run. Raises BadTask, which names what is wrong, and NotBuilt when the image is missing."""
    if not goal.strip() or len(goal) > LONGEST_GOAL:
        raise BadTask(f"goal: must be text of at most {LONGEST_GOAL} characters.")
    registry.read_options(provider, options or {})
    facts = {
        "checks": to_json(parse_checks(checks)),
        "limits": Limits.from_json(dict(limits or {})).to_json(),
        "options": dict(options or {}),
        "network": dict(network or {}),
    }
    store.find(image)
    _check_network(network or {})
    files = [_kept(name, content) for name, content in (attachments or {}).items()]
    if len(files) > MOST_ATTACHMENTS:
        raise BadTask(f"attachments: must be at most {MOST_ATTACHMENTS}.")
    with transaction.atomic():
        task = Task.objects.create(
            owner_id=owner.pk, goal=goal, image=image, provider=provider, keep_machine=keep_machine, **facts
        )
        for attachment in files:
            attachment.task = task
            attachment.save()
        return start(task)


def start(task: Task) -> Run:
    """Another attempt at a task."""
    meta = {
        "task": task.pk,
        "goal": task.goal,
        "image": task.image,
        "backend": task.backend,
        "provider": task.provider,
        "model": str(task.options.get("model", "")),
    }
    with transaction.atomic():
        trace = traces.begin(task.owner, title=task.goal.splitlines()[0][:200], meta=meta)
        for attachment in task.attachments.all():
            Reference.objects.get_or_create(trace=trace, blob_id=attachment.sha256)
        run = Run.objects.create(task=task, trace=trace)
        branch = Branch.objects.create(run=run)
        transaction.on_commit(lambda: lifecycle.enqueue(branch.pk))
    return run


def wait(run: Run, timeout: float) -> Run:
    """Until it ends. Raises TimeoutError; the run goes on."""
    deadline = time.monotonic() + timeout
    while True:
        run.refresh_from_db()
        if run.ended:
            return run
        if time.monotonic() > deadline:
            raise TimeoutError(f"The run has not ended within {timeout:g} seconds; it is {run.state}.")
        time.sleep(POLL)


def run_task(owner: Any, goal: str, *, timeout: float = 3600, **more: Any) -> Trace:
    """Submit and wait: workers must be running. Raises as `submit` and `wait` do."""
    return wait(submit(owner, goal, **more), timeout).trace


def accept_reference(task: Task, event: Event, name: str, *, region: Box | None = None) -> None:
    """The screen after a stored step is the new reference picture of that name. Raises BadTask, Damaged."""
    if not event.after:
        raise BadTask(f"Step {event.seq} has no picture.")
    with Image.open(io.BytesIO(stored(Sha256(event.after)).data)) as picture:
        screen = Screen.from_rgb(np.asarray(picture.convert("RGB")))
    checkers.accept_reference(settings.HOST.home / "references" / task.pk, name, screen, region)


def _check_network(values: Mapping[str, Any]) -> None:
    try:
        Policy(**values)
    except (TypeError, ValueError) as error:
        raise BadTask(f"network: {error}") from None


def _kept(name: str, content: Attachable) -> Attachment:
    clean = clean_name(name)
    if isinstance(content, Path):
        with content.open("rb") as file:
            return _kept(name, file)
    data = io.BytesIO(content) if isinstance(content, bytes) else content
    sha256, size = default_store().add(data, media_type(clean))
    Blob.objects.update_or_create(pk=sha256, defaults={"media_type": media_type(clean), "size": size})
    return Attachment(name=clean, sha256=sha256, media_type=media_type(clean), size=size)
