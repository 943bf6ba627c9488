"""A secret that is typed, echoed, said, shown, and put into names: it is nowhere in what was stored, or left."""

import base64
import io
import logging
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pytest
from django.apps import apps
from django.conf import settings

from agents import lifecycle
from agents.likeness import Likeness
from agents.models import Branch, Document, State, Task
from sandboxes.backends.gvisor import GvisorSandbox
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, message, text, thinking, use
from traces.logsafe import CleanFormatter
from traces.models import Blob, Event
from traces.queries import stored

from .conftest import Submit
from .leaving import Reader, exported, opened, parts, pictures_in, png
from .story import actions, drive, told

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "Tr0ub4dor&3-Xylo"
FORMS = [SECRET, quote(SECRET), base64.b64encode(SECRET.encode()).decode()[:20]]
ENTRY = "zenity --entry --width=500 --title=Login --text='Your password' >/tmp/typed 2>/dev/null & sleep 2"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(CleanFormatter("{message}", style="{"))
    logging.getLogger().addHandler(handler)
    yield out
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def before() -> set[Path]:
    """What other tests have left."""
    return stored_files()


@pytest.fixture
def ran(submit_to_claude: Submit, wire: WireServer, log: io.StringIO, before: set[Path]) -> Branch:
    """A run in which it goes everywhere."""
    branch = submit_to_claude(
        f"Log in with {SECRET}.",
        secrets={"password": SECRET},
        attachments={f"{SECRET}.csv": b"a,b\n"},
        checks=[{"name": "typed", "kind": "file_contains", "path": "/tmp/typed", "text": SECRET}],
    )
    wire.will(
        message(thinking(f"It is {SECRET}."), text(f"I type {SECRET}."), use("bash", command=ENTRY)),
        message(action("type", text="{{password}}")),
        message(
            action("zoom", region=[200, 200, 1000, 600]), action("key", text="Return"), action("wait", duration=0.5)
        ),
        message(use("bash", command=f"echo {{{{password}}}}; echo -n {SECRET} | base64")),
        message(use("bash", command=f"echo 'http://localhost/?p={quote(SECRET)}'; cat /nope/{SECRET}")),
        message(use("files", verb="create", path=f"{SECRET}.txt", content=f"It is {SECRET}.")),
        message(use("deliver", path=f"{SECRET}.txt", title=f"With {SECRET}")),
        message(use("fly", to=SECRET), use("done", summary=f"Typed {SECRET}.")),
        message(use("done", summary=f"Typed {SECRET}.")),
    )
    drive(branch)
    assert wire.refusals == []
    return branch


def test_it_stores_and_tells_no_secret(
    ran: Branch, machine: GvisorSandbox, wire: WireServer, log: io.StringIO, tmp_path: Path, before: set[Path]
) -> None:
    assert ran.state == State.SUCCEEDED, ran.detail
    assert machine.exec(["cat", "/tmp/typed"]).stdout.decode().strip() == SECRET
    assert SECRET in str(wire.last["messages"]), "the model itself sees what it does"
    rows = everything()
    assert [form for form in FORMS if form in rows] == []
    assert SECRET not in log.getvalue()
    assert "{{password}}" in Task.objects.get().goal
    assert Document.objects.get().name == "{{password}}.txt"
    assert [event.act["text"] for event in Event.objects.filter(name="type")] == ["{{password}}"]
    telling = [path for path in stored_files() - before if any(form.encode() in path.read_bytes() for form in FORMS)]
    assert [path.stem for path in telling] == [Document.objects.get().sha256], "only what was handed over is as it was"
    shown, read = pictures(), Reader()
    assert len(shown) > 2
    lines = list(chain.from_iterable(map(read, shown)))
    assert [line for line in lines if Likeness(SECRET).spans_in(line)] == []
    assert any("Your password" in line for line in lines), "nothing was read at all"
    made = exported(ran.run.trace, tmp_path)
    assert {"zip", "html", "atif", "osworld", "mp4", "webm", "gif"} <= set(made)
    for path in made.values():
        for name, data in parts(path):
            assert [form for form in FORMS if form in name or form.encode() in data] == [], path.name
    seen = sorted({picture for path in made.values() for picture in pictures_in(path)} - set(shown))
    assert [line for line in chain.from_iterable(map(read, seen)) if Likeness(SECRET).spans_in(line)] == []


def everything() -> str:
    """Every row of every table."""
    return repr([list(model._default_manager.values()) for model in apps.get_models()])


def stored_files() -> set[Path]:
    """All on the disk, of whatever kind, whether a table names them or not."""
    return {path for path in (settings.HOST.home / "blobs").rglob("*") if path.is_file()}


def pictures() -> list[bytes]:
    """All that are stored."""
    found = (stored(blob.pk).data for blob in Blob.objects.filter(width__isnull=False))  # type: ignore[arg-type]
    return [png(frame) for data in found for frame in opened(data)]


def test_it_goes_on_after_something_was_hidden(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude(secrets={"password": SECRET})
    encoded = base64.b64encode(SECRET.encode()).decode()
    wire.will(
        message(thinking("Hm."), text(f"It is {SECRET}."), use("bash", command="echo {{password}}")),
        message(thinking("So."), use("request_human", question=f"Is it {SECRET}?")),
    )
    assert drive(branch).state == State.NEEDS_HELP
    assert branch.question == "Is it {{password}}?"
    lifecycle.add_note(branch, f"Yes, {SECRET}.")
    wire.will(message(thinking("Ah."), use("bash", command=f"echo {encoded}")), message(use("done", summary="Done.")))
    assert drive(branch).state == State.SUCCEEDED
    assert wire.refusals == []
    echoed, coded = told(branch, "bash")
    assert echoed.endswith("{{password}}\n")
    assert coded.startswith("[hidden]")
    assert ("bash", "done") in actions(branch)
