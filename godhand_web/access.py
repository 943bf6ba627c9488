"""The only place that decides who may see and do what. Pages, sockets and the gate all ask here.

Owners see and drive their own machines, snapshots and traces, staff those of all. Whatever a person may not see does
not exist for them: callers answer 404, never 403.
"""

from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from agents.models import Run, Task
from sandboxes.models import Machine, Snapshot
from traces import shares
from traces.models import Job, Share, Trace

from . import passes
from .models import User

Role = Literal["view", "drive"]
Person = User | AnonymousUser


def visible_machines(person: Person) -> QuerySet[Machine]:
    if not isinstance(person, User) or not person.is_active:
        return Machine.objects.none()
    if person.is_staff:
        return Machine.objects.all()
    return Machine.objects.filter(owner=person)


def machine_or_404(person: Person, machine_id: str) -> Machine:
    machine = visible_machines(person).filter(pk=machine_id).first()
    if machine is None:
        raise Http404
    return machine


def visible_snapshots(person: Person) -> QuerySet[Snapshot]:
    if not isinstance(person, User) or not person.is_active:
        return Snapshot.objects.none()
    if person.is_staff:
        return Snapshot.objects.all()
    return Snapshot.objects.filter(owner=person)


def snapshot_or_404(person: Person, snapshot_id: str) -> Snapshot:
    snapshot = visible_snapshots(person).filter(pk=snapshot_id).first()
    if snapshot is None:
        raise Http404
    return snapshot


def visible_traces(person: Person) -> QuerySet[Trace]:
    """Without the copies that links show."""
    if not isinstance(person, User) or not person.is_active:
        return Trace.objects.none()
    listed = Trace.objects.filter(copy_of="")
    return listed if person.is_staff else listed.filter(owner=person)


def trace_or_404(person: Person, trace_id: str) -> Trace:
    trace = visible_traces(person).filter(pk=trace_id).first()
    if trace is None:
        raise Http404
    return trace


def may_change_trace(person: Person, trace: Trace) -> bool:
    return isinstance(person, User) and person.is_active and (person.is_staff or trace.owner_id == person.pk)


def changeable_trace_or_404(person: Person, trace_id: str) -> Trace:
    trace = trace_or_404(person, trace_id)
    if not may_change_trace(person, trace):
        raise Http404
    return trace


def own_share_or_404(person: Person, share_id: str) -> Share:
    """A link, or the draft of one, is its maker's alone."""
    mine = Share.objects.filter(pk=share_id, owner=person.pk).select_related("source", "copy")
    share = mine.first() if isinstance(person, User) and person.is_active else None
    if share is None:
        raise Http404
    return share


def share_for(request: HttpRequest, share_id: str) -> Share | None:
    """The link whose pages this visitor may see: with the pass that its token was exchanged for, or as its maker.

    It opens nothing but what it shows: callers ask for pictures and files of that trace only.
    """
    share = shares.find(share_id)
    if share is not None and passes.holds(request, share):
        return share
    try:
        return own_share_or_404(request.user, share_id)
    except Http404:
        return None


def visible_jobs(person: Person) -> QuerySet[Job]:
    """One's own; what a job makes may hold whatever its owner may see."""
    if not isinstance(person, User) or not person.is_active:
        return Job.objects.none()
    return Job.objects.all() if person.is_staff else Job.objects.filter(owner=person)


def job_or_404(person: Person, job_id: str) -> Job:
    job = visible_jobs(person).filter(pk=job_id).first()
    if job is None:
        raise Http404
    return job


def visible_tasks(person: Person) -> QuerySet[Task]:
    if not isinstance(person, User) or not person.is_active:
        return Task.objects.none()
    return Task.objects.all() if person.is_staff else Task.objects.filter(owner=person)


def visible_runs(person: Person) -> QuerySet[Run]:
    return Run.objects.filter(task__in=visible_tasks(person)).select_related("task", "trace")


def task_or_404(person: Person, task_id: str) -> Task:
    task = visible_tasks(person).filter(pk=task_id).first()
    if task is None:
        raise Http404
    return task


def run_or_404(person: Person, task_id: str, run_id: str) -> Run:
    run = visible_runs(person).filter(pk=run_id, task=task_id).first()
    if run is None:
        raise Http404
    return run


def may_change_task(person: Person, task: Task) -> bool:
    return isinstance(person, User) and person.is_active and (person.is_staff or task.owner_id == person.pk)


def changeable_run_or_404(person: Person, task_id: str, run_id: str) -> Run:
    run = run_or_404(person, task_id, run_id)
    if not may_change_task(person, run.task):
        raise Http404
    return run


def role_on(person: Person, machine: Machine) -> Role | None:
    """The most this person may do on this desktop, or None where it does not exist for them."""
    if not visible_machines(person).filter(pk=machine.pk).exists():
        return None
    return "drive" if may_change(person, machine) else "view"


def may_change(person: Person, machine: Machine) -> bool:
    return isinstance(person, User) and person.is_active and (person.is_staff or machine.owner_id == person.pk)


def may_drive(person: Person, machine: Machine) -> bool:
    """When it is their turn: `sandboxes.lease` knows whose that is."""
    return role_on(person, machine) == "drive"


def may_force(person: Person, machine: Machine) -> bool:
    """Take control from somebody who has it."""
    return may_change(person, machine)


def drivable_or_404(person: Person, machine_id: str) -> Machine:
    machine = machine_or_404(person, machine_id)
    if not may_drive(person, machine):
        raise Http404
    return machine


def changeable_or_404(person: Person, machine_id: str) -> Machine:
    machine = machine_or_404(person, machine_id)
    if not may_change(person, machine):
        raise Http404
    return machine


def may_name_services(person: Person) -> bool:
    """Whether this person may say where a model's service is: the installation's key is sent there."""
    return isinstance(person, User) and person.is_active and person.is_staff


def may_create(person: Person) -> bool:
    return isinstance(person, User) and person.is_active
