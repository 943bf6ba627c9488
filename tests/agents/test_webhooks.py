"""Messages to people's addresses: told once, signed, tried again, and never into a private network."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.utils import timezone

from agents import api, notify, vault, webhooks
from agents.models import Branch, Run, State
from agents.standing import Notice, Webhook
from agents.webhooks import NotSent
from godhand_web.models import User

pytestmark = pytest.mark.usefixtures("redis_url")

PRIVATE = (
    "http://127.0.0.1/", "http://localhost:8800/", "http://10.1.2.3/", "http://169.254.169.254/latest/", "http://[::1]/",
    "http://0.0.0.0/", "http://[::ffff:10.0.0.1]/", "http://[fe80::1]/", "http://[64:ff9b::a00:1]/", "http://2130706433/",
    "http://192.168.0.9:443/", "http://100.64.0.1/",
)  # fmt: skip


class Receiver(BaseHTTPRequestHandler):
    status = 200
    got: list[tuple[dict[str, Any], str, bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((json.loads(body), self.headers[webhooks.SIGNATURE], body))
        self.send_response(type(self).status)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address(settings: LazySettings) -> Iterator[str]:
    """Of a server of this host, which the settings allow."""
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    Receiver.status, Receiver.got = 200, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()


def run_of(owner: User) -> Run:
    return api.submit(owner, "Read the mail.\nAll of it.", provider="scripted", options={"script": "chart"})


def ask(run: Run) -> None:
    Branch.objects.filter(run=run).update(state=State.NEEDS_HELP, state_since=timezone.now(), question="Which one?")


@pytest.mark.parametrize("url", PRIVATE)
def test_it_sends_nothing_into_a_private_network(url: str) -> None:
    with pytest.raises(NotSent, match="private network"):
        webhooks.addresses(webhooks.checked(url))


@pytest.mark.parametrize(
    "url", ["ftp://example.org/", "example.org", "https://a:b@example.org/", "https:///x", "http://a:0/"]
)
def test_it_takes_only_addresses_of_the_web(url: str) -> None:
    with pytest.raises(NotSent):
        webhooks.checked(url)


def test_it_looks_at_every_address_a_name_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of two faces, as a hostile name server would give it."""
    faces = [(2, 1, 6, "", (address, 80)) for address in ("93.184.215.14", "10.0.0.1")]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: faces)
    with pytest.raises(NotSent, match="private network"):
        webhooks.addresses(urlsplit("http://two.example/"))


def test_it_tells_once_of_a_question_and_of_an_end(owner: User, stranger: User, address: str) -> None:
    before, theirs = run_of(owner), run_of(stranger)
    ask(before)
    secret = notify.choose(owner, address, on_help=True, on_end=True)
    ask(theirs)
    run = run_of(owner)
    ask(run)
    for _ in range(3):
        notify.tick()
    Run.objects.filter(pk=run.pk).update(state=State.SUCCEEDED, ended_at=timezone.now())
    for _ in range(3):
        notify.tick()
    assert [(told["type"], told["run"], told["title"]) for told, *_ in Receiver.got] == [
        ("run.needs_help", run.pk, "Read the mail."),
        ("run.ended", run.pk, "Read the mail."),
    ]
    assert Receiver.got[0][0]["text"] == "Which one?"
    _, signed, body = Receiver.got[0]
    at, _, proof = signed.removeprefix("t=").partition(",v1=")
    assert hmac.compare_digest(proof, hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest())


def test_it_tells_only_what_was_chosen(owner: User, address: str) -> None:
    notify.choose(owner, address, on_help=False, on_end=True)
    ask(run_of(owner))
    notify.tick()
    assert Receiver.got == []


def test_it_tries_again_later_and_gives_up_at_last(owner: User, address: str) -> None:
    notify.choose(owner, address, on_help=True, on_end=True)
    ask(run_of(owner))
    Receiver.status = 302
    now = timezone.now()
    for _ in range(10):
        now += timedelta(hours=3)
        notify.tick(now)
    notice = Notice.objects.get()
    assert (len(Receiver.got), notice.tries, notice.delivered, notice.try_at) == (6, 6, False, None)
    assert notice.answer == "It answered 302."


def test_it_stops_at_once_where_it_is_told_to(owner: User, address: str) -> None:
    notify.choose(owner, address, on_help=True, on_end=True)
    ask(run_of(owner))
    Receiver.status = 410
    for hour in range(3):
        notify.tick(timezone.now() + timedelta(hours=hour))
    assert len(Receiver.got) == 1


def test_it_keeps_its_secret_sealed_and_gives_another_address_another(owner: User, address: str) -> None:
    first = notify.choose(owner, address, on_help=True, on_end=True)
    assert notify.choose(owner, address, on_help=False, on_end=True) == ""
    hook = Webhook.objects.get()
    assert first not in hook.secret
    assert vault.unseal(hook.secret) == first
    assert notify.choose(owner, f"{address}/other", on_help=True, on_end=True) not in ("", first)
