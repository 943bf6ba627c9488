"""The only place that decides who may see and do what. Pages, sockets and the gate all ask here.

Owners see and drive their own machines, snapshots and traces, staff those of all. Whatever a person may not see does
not exist for them: callers answer 404, never 403.
"""

from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from sandboxes.models import Machine, Snapshot
from traces.models import Trace

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


def role_on(person: Person, machine: Machine) -> Role | None:
    """The most this person may do on this desktop, or None where it does not exist for them."""
    if not visible_machines(person).filter(pk=machine.pk).exists():
        return None
    return "drive" if may_change(person, machine) else "view"


def may_change(person: Person, machine: Machine) -> bool:
    return isinstance(person, User) and person.is_active and (person.is_staff or machine.owner_id == person.pk)


def changeable_or_404(person: Person, machine_id: str) -> Machine:
    machine = machine_or_404(person, machine_id)
    if not may_change(person, machine):
        raise Http404
    return machine


def may_create(person: Person) -> bool:
    return isinstance(person, User) and person.is_active
