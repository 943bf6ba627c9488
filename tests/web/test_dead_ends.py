"""No page leads its reader to one that refuses them, by a link or by a button."""

import re
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.core.cache import cache
from django.db import transaction

from godhand_web.models import User

from .access_addresses import about_a_task, client_of, everybody
from .conftest import MachineOf
from .task_rows import schedule_of
from .trace_addresses import about_a_share, about_a_trace

pytestmark = pytest.mark.usefixtures("redis_url", "image")
LINK = re.compile(r'<a [^>]*?href="([^"#]+)"')
FORM = re.compile(r'<form [^>]*?method="post".*?</form>', re.DOTALL)
ACTION = re.compile(r'<form [^>]*?action="([^"]+)"')
GIVEN = re.compile(r'<(?:input|button) [^>]*?name="([^"]+)"[^>]*? value="([^"]*)"')
REFUSED = (403, 404)


@pytest.fixture
def people(owner: User, machine_of: MachineOf) -> dict[str, User]:
    """The owner has one of everything, and the others of the team see it."""
    cache.clear()
    people = everybody()
    machine_of(owner)
    schedule_of(owner)
    about_a_task(owner)
    about_a_trace(owner)
    about_a_share(owner, "issue_share")
    return people


def sort_of(address: str) -> tuple[str, frozenset[str]]:
    """Of pages that differ in a value that is asked for, one is enough."""
    parts = urlsplit(address)
    return parts.path, frozenset(parse_qs(parts.query, keep_blank_values=True))


def walk(person: User) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """How each page answered that a link leads to, from page to page; and where their forms go with what."""
    client, ahead, seen = client_of(person), ["/"], {sort_of("/")}
    answers: dict[str, int] = {}
    actions: dict[str, dict[str, str]] = {}
    while ahead:
        path = ahead.pop(0)
        response = client.get(path)
        answers[path] = response.status_code
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            continue
        page = response.content.decode().replace("&amp;", "&")
        for form in FORM.findall(page):
            action = ACTION.search(form)
            actions[urljoin(path, action[1]) if action else path] = dict(GIVEN.findall(form))
        for link in LINK.findall(page):
            target = urljoin(path, link)
            if not urlsplit(target).netloc and sort_of(target) not in seen:
                seen.add(sort_of(target))
                ahead.append(target)
    return answers, actions


def press(person: User, action: str, given: dict[str, str]) -> int:
    """Without effect, so that one button takes nothing from the next."""
    with transaction.atomic():
        status = client_of(person).post(action, given).status_code
        transaction.set_rollback(True)
    return status


@pytest.mark.parametrize("name", ["owner", "onlooker", "viewer", "operator", "stranger", "admin"])
def test_it_leads_nobody_to_what_refuses_them(people: dict[str, User], name: str) -> None:
    answers, actions = walk(people[name])
    assert len(answers) > 10
    assert {path: status for path, status in answers.items() if status >= 400} == {}
    pressed = {path: press(people[name], path, given) for path, given in actions.items()}
    assert {path: status for path, status in pressed.items() if status in REFUSED} == {}
