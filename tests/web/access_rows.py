"""The words of the table in `test_access.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PEOPLE = ("anonymous", "stranger", "viewer", "onlooker", "operator", "owner", "admin")

ALL = "login 200 200 200 200 200 200"
ALL_SENT = "login 302 302 302 302 302 302"
ALL_ASKED = "login 400 400 400 400 400 400"
MAKER = "login 200 200 403 200 200 200"
MAKER_SENT = "login 302 302 403 302 302 302"
MAKER_ASKED = "login 400 400 403 400 400 400"
SEEN = "login 404 200 200 200 200 200"
CHANGED = "login 404 404 404 302 302 302"
CHANGED_PAGE = "login 404 404 404 200 200 200"
CHANGED_ASKED = "login 404 404 404 400 400 400"
MADE = "login 404 302 403 302 302 302"
OWN = "login 404 404 404 404 200 404"
OWN_SENT = "login 404 404 404 404 302 404"
ADMIN = "login 404 404 404 404 404 200"
ADMIN_SENT = "login 404 404 404 404 404 302"
ADMIN_ASKED = "login 404 404 404 404 404 400"
LINK = "404 404 404 404 404 200 404"
OPEN = "200 200 200 200 200 200 200"
OPEN_SENT = "302 302 302 302 302 302 302"
NO = "login 405 405 405 405 405 405"
NO_OPEN = "405 405 405 405 405 405 405"


@dataclass(frozen=True)
class Row:
    get: str
    post: str
    ask: Mapping[str, str] = field(default_factory=dict)
    send: Mapping[str, str] = field(default_factory=dict)


def page(get: str, **ask: str) -> Row:
    """Only to be looked at."""
    return Row(get, NO_OPEN if get.split()[0] != "login" else NO, ask=ask)


def verb(post: str, **send: str) -> Row:
    """Only to be sent."""
    return Row(NO_OPEN if post.split()[0] != "login" else NO, post, send=send)


def form(get: str, post: str, **send: str) -> Row:
    return Row(get, post, send=send)
