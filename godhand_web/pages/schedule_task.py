"""The task of a schedule: saved with a new one, or changed. What the form does not show stays as it was."""

from typing import Any

from django.db import transaction
from django.http import QueryDict

from agents import api, schedules, vault
from agents.errors import AgentError
from agents.standing import Schedule

from ..access import changeable_schedule_or_404
from ..models import User
from .task_form import NewTask


def begun(schedule: Schedule) -> dict[str, Any]:
    """What the form of a task starts with."""
    return {
        "timing": "schedule",
        "schedule": schedule.pk,
        "when": schedule.wording,
        "zone": schedule.zone,
        "catch_up": schedule.catch_up,
        "runs": schedule.runs,
    }


def sealed(person: User, form: NewTask) -> dict[str, str]:
    """The secrets of the schedule that the form changes. Somebody else's go into no task of one's own."""
    asked = str(form["schedule"].value() or "")
    if not asked:
        return {}
    schedule = changeable_schedule_or_404(person, asked)
    if form["timing"].value() != "schedule" and schedule.owner_id != person.pk:
        return {}
    try:
        return vault.secrets_of(schedule.task).values
    except AgentError:  # Nobody can read them any more.
        return {}


def staying(person: User, form: NewTask, fields: QueryDict) -> dict[str, str]:
    """Only what was listed can be dropped: a form without the list drops nothing."""
    dropped = {*fields.getlist("secret-listed")} - {*fields.getlist("secret-stays")}
    return {name: value for name, value in sealed(person, form).items() if name not in dropped}


def save(person: User, form: NewTask, call: dict[str, Any]) -> Schedule:
    """A new one, or the one whose task is changed. Raises as `agents.api.save` does."""
    data, runs = form.cleaned_data, call.pop("runs", 1)
    facts = {"runs": runs, "catch_up": data["catch_up"]}
    old = changeable_schedule_or_404(person, data["schedule"]) if data["schedule"] else None
    with transaction.atomic():
        if old is None:
            return schedules.make(api.save(person, **call), data["when"], data["zone"], **facts)
        tokens = {name: value for name, value in old.task.limits.items() if name == "tokens"}
        limits = {**tokens, **call.pop("limits", {})}
        schedules.change(old, data["when"], data["zone"], name=old.name, **facts)
        schedules.change_task(old, api.save(old.owner, **call, limits=limits))
    return old
