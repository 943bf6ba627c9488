"""The end of a trace, with the run that it tells of."""

import logging

from django.db import transaction

from traces import audit, retention, shares
from traces.models import Trace

from . import places, reference_pictures
from .errors import AgentError
from .models import ENDED, Branch, Run, Task
from .standing import Retention, Schedule

log = logging.getLogger(__name__)


class StillRunning(AgentError):
    pass


def runs(trace: Trace) -> bool:
    """Whether its run still goes on, or rests and may go on."""
    return Branch.objects.filter(run__trace=trace).exclude(state__in=ENDED).exists()


def freed_by(trace: Trace) -> int:
    """The bytes that its end gives back, with the copies that were made for links."""
    return retention.freed_by([trace.pk, *(copy.pk for copy in copies_of(trace))])


def copies_of(trace: Trace) -> list[Trace]:
    return list(Trace.objects.filter(copy_of=trace.pk))


def delete_trace(trace: Trace) -> int:
    """With its run, its links and their copies; the bytes that this gives back. Raises StillRunning."""
    with transaction.atomic():
        run = Run.objects.select_for_update().filter(trace=trace).first()
        if runs(trace):
            raise StillRunning("The run still goes on: cancel it first.")
        copies, freed = copies_of(trace), freed_by(trace)
        shares.revoke_those_of(trace)
        if run is not None:
            _delete_run(run)
        for each in (*copies, trace):
            each.delete()
        audit.tell("trace_deleted", trace=trace.pk, owner=trace.owner_id, bytes=freed)
        transaction.on_commit(collect_soon)
    return freed


def chosen_days() -> tuple[int | None, int | None]:
    """After how many days traces and pictures go, as chosen in the settings; None is as the installation says."""
    row = Retention.objects.first()
    return (row.traces, row.pictures) if row else (None, None)


def choose_days(traces: int | None, pictures: int | None) -> None:
    Retention.objects.update_or_create(pk=1, defaults={"traces": traces, "pictures": pictures})
    audit.tell("retention_chosen", traces=traces, pictures=pictures)


def tidy() -> None:
    """What has become too old goes."""
    retention.sweep(retention.Policy.of_settings(), _delete_if_over)


def _delete_if_over(trace: Trace) -> None:
    try:
        delete_trace(trace)
    except StillRunning as error:
        log.warning("trace %s is too old, and stays: %s", trace.pk, error)


def _delete_run(run: Run) -> None:
    """The task goes with its last run, unless a schedule goes on with it."""
    task_id = run.task_id
    places.forget(run)
    run.delete()
    if not Run.objects.filter(task=task_id).exists():
        if Schedule.objects.filter(task=task_id).exists():
            return
        Task.objects.filter(pk=task_id).delete()
        reference_pictures.forget(task_id)


def collect_soon() -> None:
    """A hint: the bytes go within the hour anyway."""
    from sandboxes.tasks import BrokerDown
    from traces import tasks

    try:
        tasks.collect.apply_async(queue="agents", retry=False)
    except (OSError, BrokerDown) as error:
        log.warning("the room of a deleted trace is given back within the hour: %s", error)
