"""A secret goes through all services of an installation that log everything, and is in no file that they leave."""

import base64
from pathlib import Path
from urllib.parse import quote

from tests.home import TEST_HOME
from tests.providers.wire import KEY, WireServer
from tests.providers.wire.replies import action, message, text, thinking, use

from .running import Installation

SECRET = "Tr0ub4dor&3-Quux"
FORMS = [form.encode() for form in (SECRET, quote(SECRET), base64.b64encode(SECRET.encode()).decode()[:20], KEY)]
TALKATIVE = {"GODHAND_LOG_LEVEL": "DEBUG", "ANTHROPIC_LOG": "debug"}
OF_THE_MACHINE = {"machines", "snapshots", "templates"}
SUBMIT = f"""
from agents.api import submit, wait
from godhand_web.management.commands.loginlink import owner
run = submit(owner(), "Log in with {SECRET}.", provider="anthropic", secrets={{"password": "{SECRET}"}},
             attachments={{"{SECRET}.csv": b"a,b"}}, options={{"model": "claude-opus-5-5", "base_url": "URL"}})
wait(run, 180)
print("ENDED", run.state, run.trace_id)
"""


def plays(wire: WireServer) -> None:
    wire.will(
        message(thinking(f"It is {SECRET}."), text(f"I type {SECRET}."), action("type", text="{{password}}")),
        message(use("bash", command=f"echo {{{{password}}}}; echo -n {SECRET} | base64; cat /nope/{SECRET}")),
        message(use("bash", command=f"echo 'http://localhost/?p={quote(SECRET)}'")),
        message(use("files", verb="view", path=f"/nope/{SECRET}.txt")),
        message(use("deliver", path=f"/nope/{SECRET}.txt", title=f"With {SECRET}")),
        message(use("fly", to=SECRET)),
        message(use("done", summary=f"Typed {SECRET}.")),
    )


def test_it_leaves_no_secret_in_any_file(tmp_path: Path) -> None:
    installation = Installation(TEST_HOME / tmp_path.name, {"ANTHROPIC_API_KEY": KEY, **TALKATIVE})
    with WireServer() as wire, installation.serving():
        plays(wire)
        code = SUBMIT.replace("URL", wire.anthropic_url)
        printed = installation.call("manage", "shell", "-c", code, timeout=300)
        files = {path: path.read_bytes() for path in written(installation.home)}
    assert "ENDED succeeded" in printed.stdout, printed.stdout[-2000:] + printed.stderr[-2000:]
    trace = printed.stdout.split()[-1].encode()
    telling = [path for path, data in files.items() if any(form in data for form in FORMS)]
    assert telling == []
    logged = next(data for path, data in files.items() if path.name == "agents.log")
    assert b"Log in with {{password}}" in logged, "requests are not in the log, so it proves nothing"
    assert any(trace in data for path, data in files.items() if path.parent.name == "db"), "the database is elsewhere"


def written(home: Path) -> list[Path]:
    """All but the machine's own disk and memory, where the secret was typed."""
    return [
        path for path in home.rglob("*") if path.is_file() and path.relative_to(home).parts[0] not in OF_THE_MACHINE
    ]
