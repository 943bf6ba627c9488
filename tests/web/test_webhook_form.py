"""The form of a webhook: a test goes to the address that stands in it, and nothing that was typed is lost."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from agents import notify
from agents.standing import Webhook
from godhand_web.models import User

pytestmark = pytest.mark.usefixtures("redis_url", "image")


class Receiver(BaseHTTPRequestHandler):
    got: list[str] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(settings: LazySettings) -> Iterator[str]:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    Receiver.got = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_it_tests_the_address_that_was_typed_and_keeps_it_in_the_form(
    as_owner: Client, owner: User, server: str
) -> None:
    notify.choose(owner, f"{server}/old", on_help=True, on_end=True)
    page = as_owner.post("/settings/webhook/test/", {"url": f"{server}/new", "on_end": "1"}).content.decode()
    assert Receiver.got == ["/new"]
    assert "It answered 204. The address is not saved yet." in page
    assert f'value="{server}/new"' in page
    assert 'name="on_help" value="1">' in page
    hook = Webhook.objects.get()
    assert (hook.url, hook.on_help) == (f"{server}/old", True)


def test_it_tests_the_saved_address_and_leads_back(as_owner: Client, owner: User, server: str) -> None:
    notify.choose(owner, f"{server}/old", on_help=True, on_end=False)
    sent = {"url": f"{server}/old", "on_help": "1"}
    assert as_owner.post("/settings/webhook/test/", sent).headers["Location"] == "/settings/"
    assert Receiver.got == ["/old"]


@pytest.mark.parametrize("where", ["/settings/webhook/test/", "/settings/webhook/"])
def test_it_keeps_what_was_typed_when_that_is_refused(as_owner: Client, owner: User, server: str, where: str) -> None:
    notify.choose(owner, f"{server}/old", on_help=True, on_end=True)
    response = as_owner.post(where, {"url": "http://10.1.2.3/new", "on_end": "1"})
    page = response.content.decode()
    assert response.status_code == 400
    assert "in a private network" in page
    assert 'value="http://10.1.2.3/new"' in page
    assert 'name="on_help" value="1">' in page
    assert Webhook.objects.get().url == f"{server}/old"
