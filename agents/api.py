"""The verbs of a task, for pages, commands and other programs alike: given this goal and this image, return a trace."""

import io
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from PIL import Image

from sandboxes.display.screen import Box, Screen
from sandboxes.images import store
from sandboxes.models import Snapshot
from sandboxes.network import Policy
from traces import lifecycle as traces
from traces.models import Blob, Event, Reference, Trace
from traces.payloads import Sha256
from traces.queries import stored

from . import lifecycle, publish, vault
from .attaching import MOST, Attachable, attachment
from .budget import Limits
from .checkers import references as checkers
from .errors import BadTask
from .models import Branch, OnHelp, Run, Task
from .placeholders import checked
from .plan import Plan
from .providers import registry
from .verify import parse_checks, to_json

MOST_RUNS = 16
LONGEST_GOAL = 50_000
POLL = 0.1


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
    secrets: Mapping[str, str] | None = None,
    snapshot: str = "",
    on_help: str = OnHelp.WAIT,
    plan: Mapping[str, Any] | None = None,
    runs: int = 1,
    keep_machine: bool = False,
) -> Run:
    """The first of so many queued runs. Raises BadTask, which names what is wrong, and NotBuilt without the image.

    With a `snapshot` its machines go on where that was taken, and its image is the one that counts. The agent types
    `secrets` by name; their values are hidden before anything is stored.
    """
    if not goal.strip() or len(goal) > LONGEST_GOAL:
        raise BadTask(f"goal: must be text of at most {LONGEST_GOAL} characters.")
    if type(runs) is not int or not 1 <= runs <= MOST_RUNS:
        raise BadTask(f"runs: must be from 1 to {MOST_RUNS}.")
    if on_help not in OnHelp.values:
        raise BadTask(f"on_help: must be one of {', '.join(OnHelp.values)}.")
    registry.read_options(provider, options or {})
    begins = _begins(snapshot, image)
    known = checked(secrets or {})
    clean = vault.redactor_for(known)
    facts = {
        "goal": clean.text(goal),
        "checks": clean.json(to_json(parse_checks(checks))),
        "limits": Limits.from_json(dict(limits or {})).to_json(),
        "options": clean.json(dict(options or {})),
        "network": dict(network or {}),
        "plan": Plan.from_json(dict(plan or {})).to_json(),
        "secrets": vault.seal(known.values) if known else "",
    }
    _check_network(network or {})
    files = [attachment(clean.text(name), content) for name, content in (attachments or {}).items()]
    if len(files) > MOST or len({file.name for file in files}) < len(files):
        raise BadTask(f"attachments: must be at most {MOST}, each with a name of its own.")
    with transaction.atomic():
        task = Task.objects.create(
            owner_id=owner.pk, provider=provider, on_help=on_help, keep_machine=keep_machine, **begins, **facts
        )
        for file in files:
            file.task = task
            file.save()
        first, *_ = [start(task) for _ in range(runs)]
    return first


def start(task: Task) -> Run:
    """Another attempt at a task. Raises BadTask when its snapshot or one of its files is gone."""
    origin = _snapshot(task.snapshot) if task.snapshot else None
    files = {file.sha256: file.name for file in task.attachments.all()}
    missing = set(files) - set(Blob.objects.filter(pk__in=files).values_list("pk", flat=True))
    if missing:
        raise BadTask(f"attachments: “{files[missing.pop()]}” is not stored any more.")
    meta = {
        "task": task.pk,
        "goal": task.goal,
        "image": task.image,
        "backend": task.backend,
        "provider": task.provider,
        "model": str(task.options.get("model", "")),
    }
    with transaction.atomic():
        trace = traces.begin(task.owner, title=task.goal.strip().splitlines()[0][:200], meta=meta)
        for sha256 in files:
            Reference.objects.get_or_create(trace=trace, blob_id=sha256)
        run = Run.objects.create(task=task, trace=trace)
        branch = Branch.objects.create(run=run, snapshot=origin)
        transaction.on_commit(lambda: lifecycle.enqueue(branch.pk))
        publish.run_changed(run)
    return run


def change_limits(branch: Branch, limits: Mapping[str, Any]) -> Limits:
    """From its next request or action on; what is not named stays. Raises BadTask.

    What the branch has of its own is changed there, everything else for all runs of the task.
    """
    task, own = branch.run.task, branch.limits
    changed = Limits.from_json({**task.limits, **own, **limits}).to_json()
    branch.limits = {name: changed[name] for name in own}
    task.limits = {**task.limits, **{name: changed[name] for name in limits if name not in own}}
    with transaction.atomic():
        branch.save(update_fields=["limits"])
        task.save(update_fields=["limits"])
        for trace_id in task.runs.values_list("trace_id", flat=True):
            traces.touch(trace_id)
    return Limits.from_json(changed)


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


def _begins(snapshot: str, image: str) -> dict[str, str]:
    """What the machines begin from, as columns of the task."""
    if not snapshot:
        return {"image": store.find(image).name}
    row = _snapshot(snapshot)
    return {"image": row.image, "backend": row.backend, "snapshot": row.pk}


def _snapshot(snapshot_id: str) -> Snapshot:
    row = Snapshot.objects.filter(pk=snapshot_id).first()
    if row is None:
        raise BadTask("snapshot: there is no such snapshot any more.")
    return row
