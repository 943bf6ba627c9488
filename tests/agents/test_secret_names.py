"""Secrets of a task: declared, sealed, and typed by name."""

import pytest

from agents import vault
from agents.errors import AgentError, BadTask
from agents.history import rebuild
from agents.models import Task
from agents.placeholders import Secrets, checked
from agents.tools.registry import tool
from agents.turns import Picture, Reply
from godhand_web.models import User
from tests.traces.conftest import RecorderOf, call, plan, recorder_of, store, trace  # noqa: F401
from traces.events import Actor, Sent
from traces.payloads import EventId
from traces.queries import path_events
from traces.redact import HIDDEN, Redactor

SECRET = "it's a $ecret"


def test_it_puts_values_in_the_place_of_names() -> None:
    secrets = Secrets({"password": SECRET})
    assert secrets.fill({"text": ["{{password}}!", "{{other}} {{ password }}"], "n": 3}) == {
        "text": [f"{SECRET}!", "{{other}} {{ password }}"],
        "n": 3,
    }


def test_it_takes_a_secret_into_the_machine_only_where_a_tool_does() -> None:
    secrets, given = Secrets({"password": SECRET}), {"command": "echo {{password}}", "content": "{{password}}"}
    assert tool("bash").filled(given, secrets)["command"] == "echo 'it'\"'\"'s a $ecret'"
    assert tool("files").filled(given, secrets)["content"] == SECRET
    for name in ("done", "request_human", "deliver", "check", "machine"):
        assert tool(name).filled(given, secrets) == given


def test_it_shows_no_value_of_its_own_accord() -> None:
    assert SECRET not in f"{Secrets({'password': SECRET})!r}"


@pytest.mark.parametrize(
    "wrong", [{"": "x" * 9}, {"1a": "x" * 9}, {"a b": "x" * 9}, {"a": "tiny1"}, {"a": " " * 9}, {"a": "x" * 5000}]
)
def test_it_refuses_secrets_that_it_cannot_keep(wrong: dict[str, str]) -> None:
    with pytest.raises(BadTask) as refused:
        checked(wrong)
    assert all(value.strip() not in str(refused.value) for value in wrong.values() if value.strip())


def test_it_refuses_too_many() -> None:
    with pytest.raises(BadTask, match="at most 20"):
        checked({f"a{number}": "long enough" for number in range(21)})


@pytest.mark.django_db
def test_it_keeps_them_sealed(owner: User, settings: pytest.FixtureRequest) -> None:
    sealed = vault.seal({"password": SECRET})
    task = Task.objects.create(owner=owner, goal="Go.", image="desktop", provider="scripted", secrets=sealed)
    assert SECRET not in sealed
    assert vault.secrets_of(task).values == {"password": SECRET}
    assert sealed != vault.seal({"password": SECRET})
    settings.SECRET_KEY = "another one"  # type: ignore[attr-defined]
    with pytest.raises(AgentError, match="another GODHAND_SECRET_KEY"):
        vault.secrets_of(task)


def nothing(_: object) -> Picture:
    raise AssertionError


@pytest.mark.django_db
def test_it_tells_in_other_words_what_follows_a_hidden_place(recorder_of: RecorderOf) -> None:  # noqa: F811
    recorder = recorder_of(redactor=Redactor([], {"password": SECRET}))
    recorder.message(Actor.HUMAN, "Go.", turn=0)
    for turn, output in enumerate(("fine", SECRET, "fine"), 1):
        (action,) = plan(recorder, call("bash", command="cat it"), turn=turn, raw={"turn": turn})
        recorder.intent(action, f"op{turn}")
        recorder.done(action, ok=True, text=output, sent=Sent(output))
    talk = rebuild(path_events(*head(recorder)), nothing)
    replies = [turn for turn in talk.turns if isinstance(turn, Reply)]
    assert [reply.raw for reply in replies] == [{"turn": 1}, {"turn": 2}, None]
    assert [reply.kind for reply in replies] == ["scripted", "scripted", ""]


@pytest.mark.django_db
def test_it_carries_out_no_call_whose_secret_is_not_known_any_more(recorder_of: RecorderOf) -> None:  # noqa: F811
    recorder = recorder_of(redactor=Redactor(["sk-hunter2hunter2"], {"password": SECRET}))
    recorder.message(Actor.HUMAN, "Go.", turn=0)
    plan(recorder, call("type", 0, text=SECRET), call("type", 1, text="sk-hunter2hunter2"))
    named, garbled = rebuild(path_events(*head(recorder)), nothing).pending
    assert (named.call.input["text"], named.hidden) == ("{{password}}", False)
    assert (garbled.call.input["text"], garbled.hidden) == (HIDDEN, True)


def head(recorder: object) -> tuple[str, EventId]:
    from traces.models import Event

    last = Event.objects.latest("seq")
    return last.trace_id, EventId(last.pk)
