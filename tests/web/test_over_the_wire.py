"""What only a real server shows: sockets, origins, and two people at once."""

import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from contextlib import AbstractContextManager, suppress
from http.cookiejar import CookieJar

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from godhand_web.routing import sockets
from sandboxes.publish import machine_group

from .site import Site

Connection = AbstractContextManager[ClientConnection]


def listen(site: Site, path: str, who: str | None, origin: str | None = None) -> Connection:
    headers = {}
    if who:
        headers["Cookie"] = "=".join(site.facts["sessions"][who])
    address = f"{site.url.replace('http', 'ws')}{path}"
    page = Origin(origin or site.url)
    return connect(address, origin=page, additional_headers=headers, proxy=None, close_timeout=1)


def turned_away(site: Site, path: str, who: str | None, origin: str | None = None) -> bool:
    try:
        with listen(site, path, who, origin):
            return False
    except InvalidStatus as refusal:
        return refusal.response.status_code == 403


def test_it_hints_at_a_change_and_says_no_more(site: Site) -> None:
    machine_id = site.facts["machines"]["ready"]
    layer = get_channel_layer()
    assert layer is not None
    message = {"type": "machine.changed", "id": machine_id, "name": "never told"}
    with listen(site, f"/ws/machines/{machine_id}/", "ann") as socket:
        async_to_sync(layer.group_send)(machine_group(machine_id), message)
        assert socket.recv(timeout=30) == f'{{"type": "machine.changed", "id": "{machine_id}"}}'


def test_it_lets_everybody_listen_to_their_own_list(site: Site) -> None:
    for who in ("ann", "newcomer"):
        assert not turned_away(site, "/ws/machines/", who)


@pytest.mark.parametrize("who", [None, "newcomer"])
def test_it_turns_strangers_away_before_the_handshake_ends(site: Site, who: str | None) -> None:
    assert turned_away(site, f"/ws/machines/{site.facts['machines']['ready']}/", who)
    assert turned_away(site, "/ws/machines/000000000000/", who)
    assert turned_away(site, "/ws/elsewhere/", who)


def test_it_turns_anonymous_listeners_of_lists_away(site: Site) -> None:
    assert turned_away(site, "/ws/machines/", None)


# Who may listen: anybody with a login, or the owner and staff.
SOCKETS = {
    "ws/machines/": "anybody",
    "ws/machines/<str:machine_id>/": "owner",
    "ws/traces/<str:trace_id>/": "owner",
    "ws/tasks/": "anybody",
    "ws/runs/<str:run_id>/": "owner",
}


def test_it_has_a_row_for_every_socket() -> None:
    assert [str(socket.pattern) for socket in sockets] == [*SOCKETS, ""]


@pytest.fixture(scope="module")
def addresses(site: Site) -> dict[str, str]:
    made = site.made("run")
    known = {"machine_id": site.facts["machines"]["ready"], "trace_id": made["trace"], "run_id": made["run"]}
    return {path: "/" + re.sub(r"<str:(\w+)>", lambda name: known[name[1]], path) for path in SOCKETS}


@pytest.mark.parametrize("path", SOCKETS)
def test_it_lets_each_person_listen_to_what_is_theirs(site: Site, addresses: dict[str, str], path: str) -> None:
    heard = {who for who in (None, "newcomer", "ann", "boss") if not turned_away(site, addresses[path], who)}
    assert heard == {"ann", "boss"} | ({"newcomer"} if SOCKETS[path] == "anybody" else set())
    assert turned_away(site, addresses[path], "ann", "http://evil.test")
    assert turned_away(site, f"{addresses[path].rstrip('/')}0/", "boss"), "what does not exist"


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "https://localhost.evil.test"])
def test_it_turns_foreign_pages_away(site: Site, origin: str) -> None:
    assert turned_away(site, "/ws/machines/", "ann", origin)


def continue_by(address: str) -> int:
    """What a browser does with a login link: look at the page, then send its form."""
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with suppress(urllib.error.HTTPError):
        browser.open(address).close()
    token = next(cookie.value for cookie in jar if cookie.name.endswith("csrf")) or ""
    try:
        with browser.open(address, urllib.parse.urlencode({"csrfmiddlewaretoken": token}).encode()) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_it_lets_one_of_many_in_who_use_a_link_at_once(site: Site) -> None:
    address = f"{site.url}/login/link/{site.facts['link']}/"
    answers: list[int] = []
    everybody = [threading.Thread(target=lambda: answers.append(continue_by(address))) for _ in range(4)]
    for one in everybody:
        one.start()
    for one in everybody:
        one.join()
    assert answers.count(200) == 1
