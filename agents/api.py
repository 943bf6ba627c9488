"""The verbs of a task, for pages, commands and other programs alike: given this goal and this image, return a trace."""

import io
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from django.db import transaction
from PIL import Image

from sandboxes.display.screen import Box, Screen
from sandboxes.ids import new_id
from traces import lifecycle as traces
from traces.models import Blob, Event, Reference, Trace
from traces.payloads import Sha256
from traces.queries import stored, totals

from . import branching, lifecycle, publish, reference_pictures, vault
from .branching import Way
from .budget import Limits
from .checkers import references as checkers
from .checkers.references import BadReference, load_reference
from .choosing import pick as pick
from .drafting import LONGEST_GOAL as LONGEST_GOAL
from .drafting import What, drafted, snapshot_row, store_task
from .errors import BadTask
from .explore import best_of as best_of
from .explore import search as search
from .filesets import Delivered as Delivered
from .filesets import Home as Home
from .filesets import between as between
from .models import Branch, Run, Task
from .providers import registry
from .pruning import delete_branch as delete_branch
from .pruning import space_of as space_of
from .starting import Start as Start
from .starting import start_from as start_from
from .wanted import want_snapshot as want_snapshot

MOST_RUNS = 16
POLL = 0.1


def submit(owner: Any, goal: str, *, runs: int = 1, **what: Unpack[What]) -> Run:
    """The first of so many queued runs. Raises BadTask, which names what is wrong, and NotBuilt without the image."""
    check_runs(runs)
    task, files = drafted(owner, goal, what)
    with transaction.atomic():
        store_task(task, files)
        first, *_ = [start(task) for _ in range(runs)]
    return first


def save(owner: Any, goal: str, **what: Unpack[What]) -> Task:
    """A task that nobody works on yet. Raises as `submit` does."""
    task, files = drafted(owner, goal, what)
    with transaction.atomic():
        store_task(task, files)
    return task


def check_runs(runs: int) -> None:
    """Raises BadTask."""
    if type(runs) is not int or not 1 <= runs <= MOST_RUNS:
        raise BadTask(f"runs: must be from 1 to {MOST_RUNS}.")


def start(task: Task) -> Run:
    """Another attempt at a task. Raises BadTask when its snapshot or one of its files is gone."""
    origin = snapshot_row(task.snapshot) if task.snapshot else None
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
    task, own, share = branch.run.task, branch.limits, branch.share
    changed = Limits.from_json({**task.limits, **own, **share, **limits}).to_json()
    shared = {name: changed[name] for name in limits if name in share}
    kept = {name: changed[name] for name in limits if name in own}
    branch.share, branch.limits = {**share, **shared}, {**own, **kept, **branching.whole_for(branch, shared)}
    task.limits = {**task.limits, **{name: changed[name] for name in limits if name not in {*own, *share}}}
    with transaction.atomic():
        branch.save(update_fields=["limits", "share"])
        task.save(update_fields=["limits"])
        for trace_id in task.runs.values_list("trace_id", flat=True):
            traces.touch(trace_id)
    return Limits.from_json(changed)


def branch_from(run: Run, seq: int, ways: Sequence[Way], *, key: str = "") -> list[Branch]:
    """New branches, one for each way, from the saved moment nearest before a step; once for each `key`.

    Works while the run goes on and after its end. Raises BadTask when no such moment is left, the run may have no more
    branches, or a model or limit makes no sense; ValueError when the trace has no such event.
    """
    begins = start_from(run, seq)
    if begins is None:
        raise BadTask(f"branch: no machine was saved on the way to step {seq}, or none of the snapshots is left.")
    clean, spent = vault.cleaner_of(run.task), totals(run.trace_id)
    for way in ways:
        allowed = Limits.from_json({**run.task.limits, **way.limits})
        if allowed.steps <= begins.steps:
            raise BadTask(f"limits: steps must be above {begins.steps}, which the way to there has taken.")
        if allowed.money <= spent.cost:
            raise BadTask(f"limits: money must be above ${spent.cost:.2f}, which the run has cost so far.")
        if allowed.tokens <= spent.tokens:
            raise BadTask(
                f"limits: the run has used {spent.tokens} tokens, and may use {allowed.tokens}. Give the branch more, "
                "or start the task again."
            )
        if way.model:
            registry.read_options(way.model["provider"], way.model["options"])
    cleaned = [replace(way, model=clean.json(dict(way.model))) for way in ways]
    return branching.fork_at(run, begins.point, cleaned, key=f"person {key or new_id()}")


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


def accept_reference(
    task: Task, event: Event, name: str, *, region: Box | None = None, excluded: Sequence[Box] | None = None
) -> None:
    """The screen after a stored step is the new reference picture of that name. Raises BadTask, Damaged.

    The part that counts, and what does not count of it, stay as they were where they are not given.
    """
    if not event.after:
        raise BadTask("That step has no picture.")
    with Image.open(io.BytesIO(stored(Sha256(event.after)).data)) as picture:
        screen = Screen.from_rgb(np.asarray(picture.convert("RGB")))
    store = reference_pictures.folder_of(task.pk)
    with suppress(FileNotFoundError, BadReference):
        known = load_reference(store, name)
        region, excluded = region or known.region, known.excluded if excluded is None else excluded
    checkers.accept_reference(store, name, screen, region, excluded or ())
