"""Fills the home that GODHAND_HOME names, through the ORM. Run as a program by `site.py`."""

import hashlib
import io
import json
import os
import sys
from datetime import timedelta
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.template.loader import render_to_string  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402

from agents import models as agents_models  # noqa: E402
from godhand_web.models import LoginLink, User  # noqa: E402
from sandboxes import lifecycle  # noqa: E402
from sandboxes.ids import new_id  # noqa: E402
from sandboxes.models import Event, Machine, Screenshot, Snapshot, State  # noqa: E402
from sandboxes.screenshots import path_of  # noqa: E402
from tests.web import example, task_rows  # noqa: E402
from tests.web import hostile as hostile_texts  # noqa: E402
from traces import lifecycle as lifecycle_of_traces  # noqa: E402
from traces.models import Trace  # noqa: E402

HOSTILE = """"'><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7 }}"""


def picture() -> str:
    screen = Image.new("RGB", (1280, 800), "#d8d2c8")
    ImageDraw.Draw(screen).rectangle((240, 120, 1040, 640), fill="#242423")
    buffer = io.BytesIO()
    screen.save(buffer, "WEBP", quality=60)
    sha256 = hashlib.sha256(buffer.getvalue()).hexdigest()
    path_of(sha256).parent.mkdir(parents=True, exist_ok=True)
    path_of(sha256).write_bytes(buffer.getvalue())
    return sha256


def machine(owner: User, state: State, name: str, sha256: str) -> str:
    made = Machine.objects.create(
        name=name,
        owner=owner,
        backend="gvisor",
        image="desktop",
        image_digest="ab" * 32,
        host="here",
        state=state,
        detail="What happened, in one sentence.",
        state_since=timezone.now() - timedelta(minutes=3),
    )
    for reached in (State.QUEUED, state):
        Event.objects.create(machine=made, state=reached, text=f"Became {reached}")
    if state not in (State.QUEUED, State.PROVISIONING, State.BOOTING):
        for click in (None, 640):
            Screenshot.objects.create(
                machine=made, sha256=sha256, label="Saved", width=1280, height=800, click_x=click, click_y=click
            )
    return made.pk


def snapshot(of: str, label: str, parent: Snapshot | None = None, hours: int = 0) -> Snapshot:
    machine = Machine.objects.get(pk=of)
    return Snapshot.objects.create(
        id=new_id(),
        owner=machine.owner,
        machine=machine,
        parent=parent,
        label=label,
        backend="gvisor",
        image="desktop",
        image_digest="ab" * 32,
        host="here",
        keeps="disk+memory",
        size=312 * 2**20 + hours * 10**7,
        made_at=timezone.now() - timedelta(hours=hours),
    )


def snapshots(machines: dict[str, str]) -> None:
    """The ready machine is a fork of the destroyed one's, and has gone back once; others were made from its own."""
    first = snapshot(machines["destroyed"], "logged in, nothing opened yet", hours=9)
    base = snapshot(machines["destroyed"], "invoices open", first, hours=7)
    snapshot(machines["ready"], "by ann, 14:03", base, hours=3)
    tried = snapshot(machines["ready"], "form filled in, not sent", base, hours=2)
    snapshot(machines["ready"], "sent, wrong date", tried, hours=1)
    here = snapshot(machines["ready"], "before the second try", base)
    snapshot(machines["ready"], "by ann, 16:40", here)
    Machine.objects.filter(pk=machines["ready"]).update(made_from=here)
    Machine.objects.filter(pk__in=(machines["booting"], machines["lost"])).update(made_from=tried)
    saved = snapshot(machines["stopped"], "when it was stopped")
    Machine.objects.filter(pk=machines["stopped"]).update(made_from=saved)
    snapshot(machines["hostile"], (HOSTILE * 2)[:100])


def image() -> None:
    build = settings.HOST.images / "desktop" / "0123"
    build.mkdir(parents=True)
    manifest = {"digest": "ab" * 32, "size": 10**9, "built": "2026-01-02T03:04:05+00:00", "packages": {"bash": "5"}}
    (build / "manifest.json").write_text(json.dumps(manifest))
    (build.parent / "current").symlink_to(build.name)


def session(person: User) -> tuple[str, str]:
    client = Client()
    client.force_login(person)
    return settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value


def everything() -> None:
    Path(settings.HOST.home / "run").mkdir(parents=True)
    image()
    sha256 = picture()
    ann, newcomer = User.objects.create_user("ann"), User.objects.create_user("newcomer")
    machines = {state.value: machine(ann, state, f"the-{state}-one", sha256) for state in State}
    machines["hostile"] = machine(ann, State.READY, HOSTILE[:60], sha256)
    snapshots(machines)
    first = Screenshot.objects.filter(machine_id=machines["ready"]).earliest("pk").pk
    link = LoginLink.issue(ann)
    boss = User.objects.create_user("boss", is_staff=True)
    sessions = {"ann": session(ann), "newcomer": session(newcomer), "boss": session(boss)}
    json.dump({"machines": machines, "screenshot": first, "link": link, "sessions": sessions}, sys.stdout)


def traces() -> None:
    """Of ann's: a forked one with a link to it, one with a single branch, an empty one, one full of hostile text."""
    ann = User.objects.get(username="ann")
    made = {"example": example.example_trace(ann), "single": example.single_branch(ann)}
    made["empty"] = lifecycle_of_traces.begin(ann, title="Not begun", meta={})
    made["hostile"] = hostile_texts.hostile_trace(ann)
    share, token = hostile_texts.linked(made["example"])
    ids = {name: trace.pk for name, trace in made.items()}
    json.dump({**ids, "share": share.pk, "token": token}, sys.stdout)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["all"]:
            everything()
        case ["error", name]:
            print(render_to_string(f"{name}.html", {"number": "k3v9m2x7p4qa"}))
        case ["traces"]:
            traces()
        case ["hostile", "begin"]:
            json.dump(hostile_texts.begin_live(User.objects.get(username="ann")).pk, sys.stdout)
        case ["hostile", "link", trace_id]:
            share, token = hostile_texts.linked(Trace.objects.get(pk=trace_id))
            json.dump([share.pk, token], sys.stdout)
        case ["hostile", "go on", trace_id]:
            hostile_texts.go_on(trace_id)
        case ["hostile", "export", trace_id, *kinds]:
            json.dump([str(hostile_texts.exported(trace_id, kind)) for kind in kinds], sys.stdout)
        case ["hostile", "import", bundle]:
            json.dump(hostile_texts.imported(User.objects.get(username="ann"), Path(bundle)), sys.stdout)
        case ["tasks"]:
            json.dump(task_rows.of_every_kind(User.objects.get(username="ann"), HOSTILE), sys.stdout)
        case ["step", run_id]:
            task_rows.a_step(agents_models.Branch.objects.get(run=run_id))
        case ["run"]:
            run = task_rows.run_in(User.objects.get(username="ann"), agents_models.State.RUNNING, steps=1)
            json.dump({"run": run.pk, "trace": run.trace_id}, sys.stdout)
        case ["snapshot", machine_id, label]:
            snapshot(machine_id, label)
            lifecycle.note(Machine.objects.get(pk=machine_id), "Snapshot taken by the test")
        case ["move", machine_id, state]:
            lifecycle.move(machine_id, State(state), "Moved by the test")
