import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces import lifecycle
from traces.events import Actor, Recorder, Sent
from traces.models import Event, Trace
from traces.redact import HIDDEN, Redactor

from .conftest import RecorderOf, call, plan

SECRET = 'pa ss/"w&rd\n<é>'
FORMS = [
    SECRET,
    quote(SECRET),
    quote(SECRET, safe="").lower(),
    quote_plus(SECRET),
    json.dumps(SECRET),
    json.dumps(SECRET, ensure_ascii=False),
    json.dumps(json.dumps({"key": SECRET})),
    html.escape(SECRET),
    *(base64.b64encode(before + SECRET.encode() + b"!?").decode() for before in (b"", b"u", b"u:", b"usr")),
    base64.urlsafe_b64encode(b">>" + SECRET.encode()).decode(),
]


@pytest.mark.parametrize("form", FORMS)
def test_it_hides_a_secret_in_every_form(form: str) -> None:
    redactor = Redactor([SECRET])
    clean = redactor.text(f"before {form} after")
    assert HIDDEN in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert redactor.hidden == 1


@given(st.binary(min_size=6, max_size=40), st.binary(max_size=8), st.binary(max_size=8))
def test_it_leaves_nothing_of_a_secret_in_base64(secret: bytes, before: bytes, after: bytes) -> None:
    text = secret.hex()
    encoded = base64.b64encode(before + text.encode() + after).decode()
    clean = Redactor([text]).text(encoded)
    assert HIDDEN in clean
    assert len(clean) - len(HIDDEN) <= len(encoded) - 8 * len(text) // 6 + 2


def test_it_hides_in_nested_json_and_in_keys() -> None:
    redactor = Redactor(["hunter2hunter2"])
    given = {"a": [1, None, True, {"hunter2hunter2": ["x hunter2hunter2 y"]}], "b": ("hunter2hunter2",)}
    assert redactor.json(given) == {"a": [1, None, True, {HIDDEN: [f"x {HIDDEN} y"]}], "b": [HIDDEN]}
    assert redactor.hidden == 3
    assert "hunter2hunter2" in given["b"]


def test_it_hides_the_longer_of_two_secrets_whole() -> None:
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more, secret") == f"{HIDDEN}, {HIDDEN}"


def test_it_hides_a_secret_that_is_no_text_for_other_programs() -> None:
    assert Redactor(["hunter2\udcff"]).text("is hunter2\udcff") == f"is {HIDDEN}"


def test_it_lets_short_secrets_and_ordinary_text_through() -> None:
    redactor = Redactor(["", "   ", "abc"])
    assert redactor.text("abc is easy") == "abc is easy"
    assert redactor.hidden == 0


@pytest.mark.django_db
def test_it_stores_no_secret(recorder_of: RecorderOf, trace: Trace) -> None:
    secret = "sk-hunter2hunter2"
    redactor = Redactor([secret])
    trace = lifecycle.begin(trace.owner, title=f"Use {secret}", meta={"task": secret}, redactor=redactor)
    recorder = recorder_of(redactor=redactor)
    live_with(recorder, secret)
    rows = repr([list(model.objects.values()) for model in (Trace, Event)])
    assert secret not in rows
    in_title_and_meta, in_raw = 2, 1
    assert rows.count(HIDDEN) == redactor.hidden - in_raw
    assert sum(Event.objects.values_list("hidden", flat=True)) == redactor.hidden - in_title_and_meta


def live_with(recorder: Recorder, secret: str) -> None:
    recorder.message(Actor.HUMAN, f"Log in with {secret}", turn=0)
    (action,) = plan(recorder, call(f"type {secret}", text=secret), raw={"text": [secret]})
    recorder.intent(action, "op", {"type": secret})
    recorder.done(action, ok=True, text=secret, sent=Sent(f"typed {secret}"))
    recorder.file(name=secret, path=f"/tmp/{secret}", direction="out", sha256=recorder.blob(b"x", "text/plain"))
    recorder.error("provider", f"The service refused {secret}.", permanent=True)


@pytest.mark.django_db
def test_it_does_not_keep_a_raw_reply_in_which_it_had_to_hide_something(recorder_of: RecorderOf) -> None:
    recorder = recorder_of(redactor=Redactor(["hunter2hunter2"]))
    plan(recorder, raw={"thinking": "hunter2hunter2"})
    plan(recorder, raw={"thinking": "fine"}, turn=2)
    assert [event.raw for event in Event.objects.all()] == [None, {"thinking": "fine"}]
