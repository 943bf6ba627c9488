"""The only place that decides who may see and do what. Pages, sockets and the gate all ask here.

A person sees what they own and what is owned by anybody they share a team with; their role in that team says what they
may do with the latter: a viewer sees it, an operator drives and changes it, an admin also forces control and manages
the team. Whose own role is viewer changes and makes nothing anywhere, but for exports of what they see. Staff see and
do everything but what is one's alone: links, sessions, keys. Whatever a person may not see does not exist for them:
callers answer 404, never 403.
"""

from typing import Literal, TypeGuard, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest

from agents.models import Run, Task
from agents.standing import Schedule
from sandboxes.models import Machine, Snapshot
from traces import shares
from traces.models import Job, Share, Trace

from . import models as accounts
from . import passes
from .models import Membership, Team, User

Role = Literal["view", "drive"]
Person = User | AnonymousUser
Row = TypeVar("Row", bound=Model)

CHANGING = (accounts.Role.OPERATOR, accounts.Role.ADMIN)
MANAGING = (accounts.Role.ADMIN,)


def known(person: Person) -> TypeGuard[User]:
    return isinstance(person, User) and person.is_active


def is_admin(person: Person) -> bool:
    """Of the installation."""
    return known(person) and person.is_staff


def _reach(person: User) -> Q:
    teams = Membership.objects.filter(person=person, agreed=True).values("team")
    mates = Membership.objects.filter(team__in=teams, agreed=True).values("person")
    return Q(owner=person.pk) | Q(owner__in=mates)


def _visible(person: Person, rows: QuerySet[Row]) -> QuerySet[Row]:
    if not known(person):
        return rows.none()
    return rows if person.is_staff else rows.filter(_reach(person))


def _found(row: Row | None) -> Row:
    if row is None:
        raise Http404
    return row


def may_change_things_of(person: Person, owner_id: int, roles: tuple[str, ...] = CHANGING) -> bool:
    if not known(person) or (person.only_looks and not person.is_staff):
        return False
    if person.is_staff or person.pk == owner_id:
        return True
    teams = Membership.objects.filter(person=owner_id, agreed=True).values("team")
    return Membership.objects.filter(person=person, agreed=True, role__in=roles, team__in=teams).exists()


def teammates(person: Person) -> list[int]:
    """Whose things one sees besides one's own. Staff, who see everything, need no team for it: none."""
    if not known(person) or person.is_staff:
        return []
    teams = Membership.objects.filter(person=person, agreed=True).values("team")
    mates = Membership.objects.filter(team__in=teams, agreed=True).exclude(person=person)
    return sorted(set(mates.values_list("person", flat=True)))


def visible_machines(person: Person) -> QuerySet[Machine]:
    return _visible(person, Machine.objects.all())


def machine_or_404(person: Person, machine_id: str) -> Machine:
    return _found(visible_machines(person).filter(pk=machine_id).first())


def visible_snapshots(person: Person) -> QuerySet[Snapshot]:
    return _visible(person, Snapshot.objects.all())


def snapshot_or_404(person: Person, snapshot_id: str) -> Snapshot:
    return _found(visible_snapshots(person).filter(pk=snapshot_id).first())


def changeable_snapshot_or_404(person: Person, snapshot_id: str) -> Snapshot:
    snapshot = snapshot_or_404(person, snapshot_id)
    return _found(snapshot if may_change_things_of(person, snapshot.owner_id) else None)


def visible_traces(person: Person) -> QuerySet[Trace]:
    """Without the copies that links show."""
    return _visible(person, Trace.objects.filter(copy_of=""))


def trace_or_404(person: Person, trace_id: str) -> Trace:
    return _found(visible_traces(person).filter(pk=trace_id).first())


def may_change_trace(person: Person, trace: Trace) -> bool:
    return may_change_things_of(person, trace.owner_id)


def changeable_trace_or_404(person: Person, trace_id: str) -> Trace:
    trace = trace_or_404(person, trace_id)
    return _found(trace if may_change_trace(person, trace) else None)


def own_share_or_404(person: Person, share_id: str) -> Share:
    """A link, or the draft of one, is its maker's alone."""
    mine = Share.objects.filter(pk=share_id, owner=person.pk).select_related("source", "copy")
    return _found(mine.first() if known(person) else None)


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
    if not known(person):
        return Job.objects.none()
    return Job.objects.all() if person.is_staff else Job.objects.filter(owner=person)


def job_or_404(person: Person, job_id: str) -> Job:
    return _found(visible_jobs(person).filter(pk=job_id).first())


def visible_tasks(person: Person) -> QuerySet[Task]:
    return _visible(person, Task.objects.all())


def visible_runs(person: Person) -> QuerySet[Run]:
    return Run.objects.filter(task__in=visible_tasks(person)).select_related("task", "trace")


def task_or_404(person: Person, task_id: str) -> Task:
    return _found(visible_tasks(person).filter(pk=task_id).first())


def run_or_404(person: Person, task_id: str, run_id: str) -> Run:
    return _found(visible_runs(person).filter(pk=run_id, task=task_id).first())


def may_change_task(person: Person, task: Task) -> bool:
    return may_change_things_of(person, task.owner_id)


def changeable_run_or_404(person: Person, task_id: str, run_id: str) -> Run:
    run = run_or_404(person, task_id, run_id)
    return _found(run if may_change_task(person, run.task) else None)


def visible_schedules(person: Person) -> QuerySet[Schedule]:
    return _visible(person, Schedule.objects.select_related("task", "owner"))


def schedule_or_404(person: Person, schedule_id: str) -> Schedule:
    return _found(visible_schedules(person).filter(pk=schedule_id).first())


def may_change_schedule(person: Person, schedule: Schedule) -> bool:
    return may_change_things_of(person, schedule.owner_id)


def changeable_schedule_or_404(person: Person, schedule_id: str) -> Schedule:
    schedule = schedule_or_404(person, schedule_id)
    return _found(schedule if may_change_schedule(person, schedule) else None)


def role_on(person: Person, machine: Machine) -> Role | None:
    """The most this person may do on this desktop, or None where it does not exist for them."""
    if not visible_machines(person).filter(pk=machine.pk).exists():
        return None
    return "drive" if may_change(person, machine) else "view"


def may_change(person: Person, machine: Machine) -> bool:
    return may_change_things_of(person, machine.owner_id)


def may_drive(person: Person, machine: Machine) -> bool:
    """When it is their turn: `sandboxes.lease` knows whose that is."""
    return role_on(person, machine) == "drive"


def may_force(person: Person, machine: Machine) -> bool:
    """Take control from somebody who has it."""
    return may_change_things_of(person, machine.owner_id, MANAGING)


def drivable_or_404(person: Person, machine_id: str) -> Machine:
    machine = machine_or_404(person, machine_id)
    return _found(machine if may_drive(person, machine) else None)


def changeable_or_404(person: Person, machine_id: str) -> Machine:
    machine = machine_or_404(person, machine_id)
    return _found(machine if may_change(person, machine) else None)


def may_name_services(person: Person) -> bool:
    """Whether this person may say where a model's service is: the installation's key is sent there."""
    return is_admin(person)


def may_create(person: Person) -> bool:
    return known(person) and (person.is_staff or not person.only_looks)


def maker_or_403(person: Person) -> User:
    """For what belongs to nobody yet, so that there is nothing to hide. Raises PermissionDenied."""
    if not known(person) or not may_create(person):
        raise PermissionDenied
    return person


def admin_or_404(person: Person) -> User:
    if not known(person) or not person.is_staff:
        raise Http404
    return person


def person_or_404(person: Person, number: int) -> User:
    """Somebody else's account is the business of the installation's administrators alone."""
    admin_or_404(person)
    return _found(User.objects.filter(pk=number).first())


def visible_teams(person: Person) -> QuerySet[Team]:
    """Those that one is in or is asked into."""
    if not known(person):
        return Team.objects.none()
    return Team.objects.all() if person.is_staff else Team.objects.filter(memberships__person=person)


def may_manage_team(person: Person, team: Team) -> bool:
    mine = Membership.objects.filter(team=team, person=person.pk, agreed=True, role__in=MANAGING)
    return is_admin(person) or (known(person) and not person.only_looks and mine.exists())


def team_or_404(person: Person, number: int) -> Team:
    """One that they are in: whoever is only asked does not see who else is."""
    inside = Q() if is_admin(person) else Q(memberships__person=person.pk, memberships__agreed=True)
    return _found(Team.objects.filter(inside, pk=number).first() if known(person) else None)


def managed_team_or_404(person: Person, number: int) -> Team:
    team = team_or_404(person, number)
    return _found(team if may_manage_team(person, team) else None)
