"""What no fork undoes: it is marked, told to whoever tries again, and waits for a word where a task says so."""

from typing import Any

import pytest
from django.test import Client

from agents import approval
from agents.effects import of_command
from agents.models import Branch, State
from agents.trying import hint_after
from godhand_web.models import User
from sandboxes.backends.gvisor import GvisorSandbox
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event
from traces.queries import head_of, light_path
from traces.steps import steps_of

from .conftest import Submit
from .story import actions, drive, told
from .test_explore import points_of, told_only  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
SENDS = "curl --max-time 1 -d hello=1 http://shop.example/order"


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        (SENDS, "upload"),
        ("cd x && curl -sS -X DELETE https://a.example/1", "upload"),
        ("wget --post-data=x=1 http://a.example", "upload"),
        ("scp report.pdf host:", "upload"),
        ("rsync -a out/ me@a.example:out", "upload"),
        ("git -C site push origin main", "publish"),
        ("echo hello | mail -s hello a@b.example", "mail"),
        ("ssh host reboot", "remote command"),
        ("curl -fsSL https://a.example/x -o x", ""),
        ("curl -d x=1 http://localhost:8000/", ""),
        ("rsync -a out/ backup/", ""),
        ("cat mail.txt; echo mail", ""),
        ("git commit -m push", ""),
        ("curl -sX POST https://a.example/x", "upload"),
        ("curl -sd x=1 https://a.example", "upload"),
        ("curl -dx=1 https://a.example", "upload"),
        ("curl 'https://a.example/?a=1&b=2' -X POST -d x=1", "upload"),
        ('curl "https://a.example/?a=1&b=\\"2" --request "POST"', "upload"),
        ("curl \\\n  https://a.example \\\n  -X POST", "upload"),
        ("bash -c 'mail -s hello a@b.example < x'", "mail"),
        ("curl http://localhost:8000/health && git push", "publish"),
        ("curl -sX GET https://a.example -odata", ""),
        ("curl 'https://a.example/?a=1&b=2' -o x; cut -d, x", ""),
        ("curl https://a.example -o x # don't\ncut -d, x # it's", ""),
    ],
)
def test_it_knows_commands_that_leave_the_machine(command: str, effect: str) -> None:
    assert of_command(command) == effect


@pytest.mark.parametrize(
    "text",
    ["curl " * 50_000, "rsync a" * 50_000, "git -a " * 50_000, "\n" * 100_000, "'\"" * 50_000, '"' + "\\" * 50_000],
)
def test_it_looks_at_a_long_command_once(text: str) -> None:
    """One that looks at the rest of it from every word is at it for hours."""
    assert of_command(text) == ""


def done() -> dict[str, Any]:
    return message(use("done", summary="Sent."))


def bash(command: str) -> dict[str, Any]:
    return message(use("bash", command=command))


def marks(branch: Branch) -> dict[str, str]:
    head = head_of(branch.run.trace_id, branch.name)
    assert head
    steps = steps_of(light_path(branch.run.trace_id, head))
    return {step.sentence: step.marks.irreversible for step in steps if step.kind == "action"}


@pytest.mark.usefixtures("told_only")
def test_it_marks_what_left_the_machine_and_tells_who_goes_back(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(network={"mode": "open"}, plan={"risky": True, "every": 2})
    wire.will(bash("echo here"), bash(SENDS), done())
    drive(main)
    assert marks(main) == {"Ran echo here": "", f"Ran {SENDS}": "upload", "Says it is done: Sent.": ""}
    first, last = points_of(main)
    assert (first.label, first.outside, last.outside) == ("before: upload", 1, 0)
    assert f"going back has not undone it: Ran {SENDS}" in hint_after(main.run, first, [main])


@pytest.mark.parametrize("options", [{"bash": "cd /tmp; git push"}, {"argv": ["git", "push"]}])
def test_it_asks_before_a_check_that_leaves_the_machine(
    submit_to_claude: Submit, wire: WireServer, options: dict[str, Any]
) -> None:
    main = submit_to_claude(network={"mode": "open"}, plan={"approve": True})
    wire.will(message(use("check", kind="command_succeeds", options=options)))
    assert drive(main).state == State.NEEDS_HELP
    assert "git push" in main.question
    assert actions(main) == [("check", "planned")]


def test_it_marks_nothing_in_a_machine_that_reaches_nobody(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(plan={"approve": True})
    wire.will(bash("mail -s hello nobody </dev/null"), done())
    assert drive(main).state == State.SUCCEEDED
    assert set(marks(main).values()) == {""}


def test_it_tells_a_form_from_a_letter(submit_to_claude: Submit, wire: WireServer, machine: GvisorSandbox) -> None:
    main = submit_to_claude(network={"mode": "open"})
    show = (
        "zenity --entry --title={0} >/dev/null 2>&1 & "
        "window=$(xdotool search --sync --onlyvisible --name {0} | head -1); xdotool set_window --class {0} $window"
    )
    for window in ("Letters", "Chromium"):
        wire.will(bash(show.format(window)), message(action("key", text="Return")))
    wire.will(done())
    drive(main)
    pressed = Event.objects.filter(trace=main.run.trace_id, name="key").order_by("seq")
    assert [event.act.get("irreversible", "") for event in pressed] == ["", "submit"]


@pytest.mark.parametrize("allow", [True, False])
def test_it_rests_for_a_word_before_it_does_it(
    submit_to_claude: Submit, wire: WireServer, owner: User, client: Client, allow: bool
) -> None:
    main = submit_to_claude(network={"mode": "open"}, plan={"approve": True})
    wire.will(bash(SENDS), done())
    assert drive(main).state == State.NEEDS_HELP
    assert SENDS in main.question
    assert approval.asks(main)
    assert actions(main) == [("bash", "planned")]
    client.force_login(owner)
    page = f"/tasks/{main.run.task_id}/runs/{main.run_id}/"
    assert b"Allow it" in client.get(page).content
    client.post(f"{page}approve/?branch=main", {"word": "allow" if allow else "refuse", "text": "Only once."})
    assert not approval.answer(main, owner, allow=not allow)
    assert drive(main).state == State.SUCCEEDED
    assert actions(main)[0] == ("bash", "done" if allow else "refused")
    assert ("did not allow" in told(main, "bash")[0]) is not allow
    heard = Event.objects.get(trace=main.run.trace_id, name__startswith="note ")
    assert heard.data["text"] == f"{approval.ALLOWED if allow else approval.REFUSED} Only once."


def test_it_does_not_do_it_where_nobody_is_to_be_asked(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(network={"mode": "open"}, plan={"approve": True}, on_help="continue")
    wire.will(bash(SENDS), done())
    assert drive(main).state == State.SUCCEEDED
    assert actions(main)[0] == ("bash", "refused")
