"""Coming in with a password and a second step, and where one is logged in."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.test import Client

from godhand_web.models import LoginLink, User

from .access_addresses import client_of

PASSWORD = "correct horse battery"
RIGHT = {"username": "owner", "password": PASSWORD}

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture(autouse=True)
def secretive(owner: User) -> None:
    cache.clear()
    owner.set_password(PASSWORD)
    owner.save()


def code_for(secret: str) -> str:
    now = list(yield_hotp_counters_from_time())[1]
    return str(format_hotp_value(hotp_value(secret, now)))


def logged_in() -> Client:
    client = Client()
    client.post("/login/", RIGHT)
    return client


def with_app() -> tuple[str, list[str]]:
    """Sets an authenticator app up: its key, and the recovery codes."""
    client = logged_in()
    page = client.get("/settings/security/app/").content.decode()
    found = re.search(r"totp-key[^>]*>([A-Z2-7]+)<", page)
    assert found
    answer = client.post("/settings/security/app/", {"code": code_for(found[1])})
    assert answer.headers["Location"] == "/settings/security/codes/"
    codes = re.findall(r"<li>(\d{8})</li>", client.get("/settings/security/codes/").content.decode())
    cache.clear()
    return found[1], codes


def test_it_asks_for_a_code_after_the_password() -> None:
    secret, _ = with_app()
    client = Client()
    assert client.post("/login/", {**RIGHT, "next": "/images/"}).headers["Location"] == "/login/step/"
    assert client.get("/").status_code == 302
    wrong = client.post("/login/step/", {"code": "000000"})
    assert "That did not match" in wrong.content.decode()
    assert client.post("/login/step/", {"code": code_for(secret)}).headers["Location"] == "/images/"
    assert client.get("/").status_code == 200


def test_it_takes_a_code_once() -> None:
    secret, codes = with_app()
    code = code_for(secret)
    for given, expected in ((code, 302), (code, 200), (codes[0], 302), (codes[0], 200)):
        client = Client()
        client.post("/login/", RIGHT)
        assert client.post("/login/step/", {"code": given}).status_code == expected, given


def test_it_begins_again_when_asked_to() -> None:
    with_app()
    client = Client()
    client.post("/login/", RIGHT)
    assert client.get("/login/").status_code == 200
    assert client.get("/login/step/").headers["Location"] == "/login/"


def test_it_seals_what_codes_are_made_from() -> None:
    secret, codes = with_app()
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert len(codes) == 10
    assert not any(code in stored for code in codes)


def test_it_lets_a_link_from_the_host_in_without_a_code(owner: User) -> None:
    with_app()
    client = Client()
    assert client.post(f"/login/link/{LoginLink.issue(owner)}/").headers["Location"] == "/"
    assert client.get("/").status_code == 200
    assert client.get("/settings/security/app/remove/").status_code == 200, "who came by a link may repair their keys"


def test_it_asks_who_it_is_before_keys_are_changed_later() -> None:
    with_app()
    client = logged_in_long_ago()
    asked = client.get("/settings/security/app/remove/")
    assert asked.headers["Location"].startswith("/settings/security/confirm/?next=")
    page = client.get(asked.headers["Location"]).content.decode()
    assert "Keys are changed by you alone" in page
    answer = client.post(asked.headers["Location"], {"password": PASSWORD, "next": "/settings/security/app/remove/"})
    assert answer.headers["Location"] == "/settings/security/app/remove/"
    client.post("/settings/security/app/remove/")
    assert not Authenticator.objects.exists()


def logged_in_long_ago() -> Client:
    return client_of(User.objects.get(username="owner"))


def test_it_stops_somebody_who_guesses() -> None:
    for _ in range(5):
        assert "do not match" in Client().post("/login/", {**RIGHT, "password": "guess"}).content.decode()
    answer = Client().post("/login/", RIGHT)
    assert "too many tries" in answer.content.decode()
    cache.clear()
    assert Client().post("/login/", RIGHT).status_code == 302


def test_it_stops_somebody_who_guesses_codes() -> None:
    secret, _ = with_app()
    client = Client()
    client.post("/login/", RIGHT)
    for _ in range(5):
        client.post("/login/step/", {"code": "000000"})
    assert "too many tries" in client.post("/login/step/", {"code": code_for(secret)}).content.decode()


def test_it_lists_where_one_is_logged_in_and_ends_it(stranger: User) -> None:
    here, there = logged_in(), Client(headers={"user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    there.post("/login/", RIGHT)
    there.get("/")
    page = here.get("/settings/security/").content.decode()
    assert "Firefox on Linux" in page
    found = re.search(r"/settings/security/sessions/(\d+)/end/", page)
    assert found
    assert client_of(stranger).post(found[0]).status_code == 404
    assert there.get("/").status_code == 200
    here.post(found[0])
    assert there.get("/").status_code == 302
    assert here.get("/").status_code == 200


def test_it_ends_all_others_at_once() -> None:
    here, others = logged_in(), [logged_in() for _ in range(3)]
    for client in (here, *others):
        client.get("/")
    answer = here.post("/settings/security/sessions/end/", follow=True)
    assert "3 other browsers are logged out." in answer.content.decode()
    assert [client.get("/").status_code for client in others] == [302, 302, 302]


def test_it_logs_others_out_when_the_password_changes() -> None:
    here, there = logged_in(), logged_in()
    changed = {"oldpassword": PASSWORD, "password1": "an even better horse", "password2": "an even better horse"}
    assert here.post("/settings/security/password/", changed).status_code == 302
    assert (here.get("/").status_code, there.get("/").status_code) == (200, 302)
    wrong = here.post("/settings/security/password/", {**changed, "password2": "another"})
    assert "your password" in wrong.content.decode()
