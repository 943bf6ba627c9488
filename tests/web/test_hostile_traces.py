"""Text that wants to become more, wherever a trace carries text: no page says it, no browser obeys it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, reverse
from playwright.sync_api import Browser, Page, expect

from godhand_web.models import User
from godhand_web.urls import urlpatterns
from traces.models import Event, Trace

from .access_table import MATRIX
from .hostile import hostile_trace, linked
from .payloads import INJECTED, PAYLOADS, tainted
from .site import Site

expect.set_options(timeout=20_000)

TABS = ("action", "reasoning", "observation", "model", "files", "notes")
ABOUT = [
    pattern
    for pattern in urlpatterns
    if {"trace_id", "share_id"} & set(pattern.pattern.converters) and "200" in MATRIX[str(pattern.name)].get
]
ALONE = "head > meta[http-equiv='Content-Security-Policy'], head > style, body > script:last-of-type"
LISTS = ("/", "/tasks/", "/traces/", "/traces/import/", "/shares/", "/settings/space/")


@pytest.mark.usefixtures("redis_url", "image")
def test_it_says_hostile_text_nowhere_as_it_is(as_owner: Client, owner: User) -> None:
    hostile = hostile_trace(owner)
    share, _ = linked(hostile)
    assert share.copy is not None
    pages = [address(pattern, trace, share.pk) for pattern in ABOUT for trace in (hostile, share.copy)]
    pages += [*LISTS, f"/traces/?q={PAYLOADS[0]}", *step_pages(hostile)]
    for page in pages:
        response = as_owner.get(page)
        if response["Content-Type"].startswith("text/html"):
            assert tainted(response.content.decode()) == [], page
            assert "Content-Security-Policy" in response.headers
        assert response["X-Content-Type-Options"] == "nosniff", page
        assert "pwned" not in response.headers.get("Set-Cookie", ""), page


def address(pattern: URLPattern, trace: Trace, share_id: str) -> str:
    events = Event.objects.filter(trace=trace).order_by("seq")
    seen = events.exclude(after="")
    known = {"trace_id": trace.copy_of or trace.pk, "share_id": share_id, "sha256": seen[0].after}
    seqs = {"seq": seen[0].seq, "first": seen[0].seq, "last": seen[1].seq}
    if str(pattern.name).endswith("_file"):
        seqs["seq"] = events.filter(kind="file")[0].seq
    facts: dict[str, object] = {**known, **seqs}
    return reverse(str(pattern.name), kwargs={key: facts[key] for key in pattern.pattern.converters})


def step_pages(trace: Trace) -> Iterator[str]:
    """One step of each kind and name, with each tab."""
    seen = set()
    for event in Event.objects.filter(trace=trace).order_by("seq"):
        if (event.kind, event.name if event.kind == "action" else "") not in seen:
            seen.add((event.kind, event.name if event.kind == "action" else ""))
            yield from (f"/traces/{trace.pk}/steps/{event.seq}/?tab={tab}" for tab in TABS)
    yield from (f"/traces/{trace.pk}/?step={event.seq}&all=1&q={PAYLOADS[52]}" for event in [event])


def test_it_would_see_what_it_looks_for(browser: Browser) -> None:
    """In a page without any protection."""
    page = browser.new_page()
    for payload in PAYLOADS:
        page.set_content("<p></p>")
        page.evaluate("payload => { document.querySelector('p').innerHTML = payload }", payload)
        if re.search(r"<(?!/|!)[a-z]", payload, re.IGNORECASE) and not payload.startswith(("<!--", "<body", "data:")):
            assert page.evaluate(INJECTED) != [], payload
    page.close()


@pytest.fixture(scope="module")
def traces(site: Site) -> dict[str, Any]:
    return dict(site.made("traces"))


@contextmanager
def watched(browser: Browser, site: Site, who: str = "ann") -> Iterator[Page]:
    """A page in which nothing may happen that a hostile text wants."""
    reports: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.add_cookies(site.cookies(who))
    context.expose_function("reportPolicy", lambda report: reports.append(report))
    context.add_init_script(
        "addEventListener('securitypolicyviolation', e => reportPolicy(`${e.violatedDirective} ${e.blockedURI}`));"
    )
    page = context.new_page()
    page.on("dialog", lambda dialog: reports.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: reports.append(request.url) if "evil.test" in request.url else None)
    page.on("pageerror", lambda error: reports.append(str(error)))
    try:
        yield page
        assert reports == []
    finally:
        context.close()


def test_it_obeys_no_text_on_the_page_of_a_trace(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with watched(browser, site) as page:
        page.goto(f"{site.url}/traces/{traces['hostile']}/?step=1&all=1")
        walk(page)


def walk(page: Page, own: str = "") -> None:
    """Every kind of step, every tab, every view, search, branches and previews."""
    steps = page.get_by_role("slider").first
    page.keyboard.press("Home")
    expect(steps).to_have_value("1")
    for place in range(2, 42):
        page.keyboard.press("j")
        expect(steps).to_have_value(str(place))
    for number, tab in enumerate([tab.get_attribute("data-tab") for tab in page.locator("[data-tab]").all()], 1):
        page.keyboard.press(str(number))
        expect(page.locator("[data-body]")).to_have_attribute("data-shows", str(tab))
        for key in "kk":
            page.keyboard.press(key)
        assert page.evaluate(INJECTED, own) == [], tab
    for key in ("b", "a", "d", "m", "m", "l", "h", "v"):
        page.keyboard.press(key)
    search_for(page, PAYLOADS[16])
    assert page.evaluate(INJECTED, own) == []


def search_for(page: Page, text: str) -> None:
    field = page.get_by_role("main").get_by_role("searchbox")
    field.fill(text)
    expect(page.locator("[data-count]")).to_contain_text(re.compile(r"[1-9]"))
    field.press("Enter")
    page.locator("[data-track]").hover()
    expect(page.locator("[data-peek]")).to_be_visible()


def test_it_obeys_no_text_that_arrives_while_one_looks(browser: Browser, site: Site) -> None:
    trace_id = site.made("hostile", "begin")
    with watched(browser, site) as page:
        page.goto(f"{site.url}/traces/{trace_id}/")
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        slider = page.get_by_role("slider").first
        before = int(slider.get_attribute("max") or 0)
        site.seed("hostile", "go on", trace_id)
        page.wait_for_function(
            "([slider, before]) => Number(slider.max) > before + 10", arg=[slider.element_handle(), before]
        )
        page.keyboard.press("L")


def test_it_obeys_no_text_in_lists_links_and_comparisons(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with watched(browser, site) as page:
        share_id, _ = site.made("hostile", "link", traces["hostile"])
        for path in (*LISTS, f"/traces/{traces['hostile']}/share/", f"/shares/{share_id}/"):
            page.goto(site.url + path)
            assert page.evaluate(INJECTED) == [], path
        page.goto(f"{site.url}/traces/{traces['hostile']}/compare/")
        for key in ("j", "j", ".", "2", "b", "3", "u", "j"):
            page.keyboard.press(key)


def test_it_obeys_no_text_that_went_out_and_came_in_again(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    bundle, alone = site.made("hostile", "export", traces["hostile"], "zip", "html")
    trace_id = site.made("hostile", "import", bundle)
    with watched(browser, site) as page:
        for path in ("/traces/import/", f"/traces/{trace_id}/export/", f"/traces/{trace_id}/?step=1&all=1"):
            page.goto(site.url + path)
            assert page.evaluate(INJECTED) == [], path
        walk(page)
    with watched(browser, site) as page:
        page.goto(f"file://{alone}")
        walk(page, own=ALONE)


def test_it_obeys_no_text_on_the_page_behind_a_link(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    _, token = site.made("hostile", "link", traces["hostile"])
    with watched(browser, site, who="") as page:
        page.goto(f"{site.url}/s/{token}/")
        page.goto(f"{page.url}?step=1&all=1")
        walk(page)
