"""What a task says before it has a machine: how many runs, from which snapshot, and what becomes of a question."""

from typing import Any, cast

import pytest
from django.conf import LazySettings
from django.db.models import ProtectedError

from agents import api, leases, lifecycle, runner
from agents.check_text import to_toml
from agents.endings import GaveUp, Parked
from agents.errors import BadTask
from agents.examples import EXAMPLES
from agents.models import Branch, State
from agents.providers.scripted import ScriptedOptions, ScriptedProvider
from agents.provisioning import machine_of
from agents.tools.request_human import RequestHuman
from agents.verify import parse_checks, to_json
from agents.watching import RowWatch
from agents.workplace import OnHelp, Workplace
from godhand_web.models import User
from sandboxes import forking
from sandboxes.ids import new_id
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from sandboxes.network import Policy

pytestmark = pytest.mark.usefixtures("redis_url")
CHART: dict[str, Any] = {"provider": "scripted", "options": {"script": "chart"}}
TABLES: list[dict[str, Any]] = [
    {"kind": "file_exists", "name": 'a "quoted" line\\ and é', "path": "x", "min_size": 3},
    {"kind": "file_matches", "path": "a.xlsx", "cells": {"Sheet 1!B2": 1.5, "C3": "=SUM(A1:A2)"}, "headers": ["a b"]},
    {"kind": "screen_text", "text": "Total\x7f", "region": [0, 0, 640, 400], "when": ["done", "step"], "absent": True},
]


def saved(owner: User) -> Snapshot:
    return Snapshot.objects.create(
        id=new_id(), owner=owner, label="logged in", backend="gvisor", image="desktop", image_digest="ab" * 32,
        host="here", keeps="disk+memory", size=1,
    )  # fmt: skip


def asked(on_help: OnHelp) -> Any:
    place = Workplace(cast(Any, None), ScriptedProvider(ScriptedOptions("chart")), on_help=on_help)
    return RequestHuman().run({"question": "Which one?"}, place)


def test_it_waits_goes_on_or_ends_when_a_person_is_asked_for() -> None:
    assert isinstance(asked("wait").ending, Parked)
    alone = asked("continue")
    assert (alone.ending, alone.ok) == (None, False)
    assert "Decide by yourself" in alone.text
    ended = asked("stop").ending
    assert isinstance(ended, GaveUp)
    assert "Which one?" in str(ended)


def test_it_starts_as_many_runs_as_wanted(owner: User) -> None:
    run = api.submit(owner, "Do it.", runs=3, **CHART)
    traces = list(run.task.runs.values_list("trace", flat=True))
    assert len(set(traces)) == 3
    assert Branch.objects.filter(run__task=run.task, state=State.QUEUED).count() == 3


def test_it_begins_from_a_snapshot_and_says_when_that_is_gone(owner: User) -> None:
    snapshot = saved(owner)
    run = api.submit(owner, "Do it.", snapshot=snapshot.pk, **CHART)
    assert run.branches.get().snapshot == snapshot
    with pytest.raises(ProtectedError):
        snapshot.delete()
    run.branches.update(state=State.CANCELLED)
    snapshot.delete()
    with pytest.raises(BadTask, match="no such snapshot any more"):
        api.start(run.task)


def test_it_gives_a_fork_the_network_of_its_task(owner: User) -> None:
    snapshot = saved(owner)
    assert forking.request_fork(snapshot, owner, network=Policy("off")).network == {"mode": "off", "allow": ()}
    assert forking.request_fork(snapshot, owner).network == {}


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_a_machine_slot_instead_of_failing(
    owner: User, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MACHINE_SLOTS = 1
    Machine.objects.create(name="busy", owner=owner, backend="gvisor", image="desktop", host="here")
    branch = api.submit(owner, "Do it.", **CHART).branches.get()
    runner.drive(branch.pk)
    branch.refresh_from_db()
    assert branch.state == State.QUEUED
    assert "All 1 machine slots are in use" in branch.detail
    sent: list[str] = []
    monkeypatch.setattr(lifecycle, "enqueue", sent.append)
    runner.reconcile()
    assert sent == []
    Branch.objects.filter(pk=branch.pk).update(detail="")
    runner.reconcile()
    assert sent == [branch.pk]
    Machine.objects.update(state=MachineState.DESTROYED)
    lifecycle.request_cancel(branch)
    runner.drive(branch.pk)
    branch.refresh_from_db()
    assert (branch.state, branch.machine) == (State.CANCELLED, None)


def test_it_resumes_a_machine_that_was_about_to_stop(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its host's worker is told in two updates, made whenever the branch looks up from waiting."""
    branch = api.submit(owner, "Do it.", **CHART).branches.get()
    branch.machine = Machine.objects.create(
        name="stops", owner=owner, backend="gvisor", image="desktop", host="here", state=MachineState.STOPPING
    )
    mine, lease = Machine.objects.filter(pk=branch.machine.pk), leases.claim(branch.pk)

    def host_works(_: RowWatch) -> None:
        mine.filter(state=MachineState.STOPPING).update(state=MachineState.STOPPED)
        mine.filter(state=MachineState.QUEUED).update(state=MachineState.READY)

    monkeypatch.setattr(RowWatch, "wishes", host_works)
    assert lease
    assert machine_of(branch, lease, RowWatch(branch, lease)) == branch.machine
    assert mine.get().state == MachineState.READY


def test_it_writes_checks_as_people_do() -> None:
    checks = to_json(parse_checks(TABLES))
    assert to_json(parse_checks(to_toml(checks))) == checks
    assert to_toml([]) == ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_ships_examples_that_can_be_submitted(owner: User, name: str) -> None:
    example = EXAMPLES[name]
    run = api.submit(owner, example.goal, checks=example.checks, attachments=example.attachments(), **CHART)
    assert run.task.attachments.count() == len(example.files)
