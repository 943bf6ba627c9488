"""Launching and watching in a real Chromium: what JavaScript adds, and that nothing needs it but the desktop."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

PAGES = {
    "dashboard": "/",
    "tasks": "/tasks/",
    "found none": "/tasks/?q=nothing-like-that",
    "new": "/tasks/new/?example=chart&recurs",
    "running": "/tasks/{running}/",
    "provisioning": "/tasks/{provisioning}/",
    "needs help": "/tasks/{needs_help}/?tab=reasoning",
    "paused": "/tasks/{paused}/",
    "human control": "/tasks/{human_control}/",
    "run": "/tasks/{many}/runs/{first_of_many}/",
    "failed": "/tasks/{failed}/?tab=details",
    "succeeded": "/tasks/{succeeded}/?tab=files",
    "several runs": "/tasks/{many}/",
    "stop": "/tasks/{running}/runs/{run}/stop/",
    "hostile": "/tasks/{hostile}/?tab=files",
    "schedules": "/schedules/",
    "schedule": "/schedules/{schedule}/",
}
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PASTE = """([name, type]) => {
  const files = new DataTransfer();
  files.items.add(new File(["pasted"], name, { type }));
  document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: files, bubbles: true }));
}"""
DROP = """(place, name) => {
  const files = new DataTransfer();
  files.items.add(new File(["dropped"], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    place.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture(scope="module")
def tasks(site: Site) -> dict[str, list[str]]:
    """The task's id and its run's, by state."""
    found: dict[str, list[str]] = site.made("tasks")
    return found


def run_page(tasks: dict[str, list[str]], name: str) -> str:
    task, run = tasks[name]
    return f"/tasks/{task}/runs/{run}/"


@needs_axe
@pytest.mark.parametrize("name", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, tasks: dict[str, list[str]], name: str) -> None:
    facts: dict[str, Any] = {kind: task for kind, (task, _) in tasks.items()}
    path = PAGES[name].format(run=tasks["running"][1], first_of_many=tasks["many"][1], **facts)
    with opened(browser, site, path, fresh=False) as page:
        check(page)


@needs_axe
def test_its_question_and_its_keys_are_accessible(browser: Browser, site: Site, tasks: dict[str, list[str]]) -> None:
    with opened(browser, site, run_page(tasks, "running"), fresh=False) as page:
        page.get_by_role("link", name="Stop", exact=True).click()
        expect(page.get_by_role("dialog", name="Stop this run?")).to_be_visible()
        check(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
        check(page)


def test_it_shows_a_step_and_keeps_what_is_being_typed(
    browser: Browser, site: Site, tasks: dict[str, list[str]]
) -> None:
    with opened(browser, site, run_page(tasks, "running")) as page:
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        stage = page.locator("[data-viewer]").element_handle()
        page.keyboard.press("m")
        note = page.get_by_label("Send a note to the agent")
        expect(note).to_be_focused()
        note.press_sequentially("half a wo")
        site.seed("step", tasks["running"][1])
        expect(page.locator(".acts li").first).to_contain_text("Ran echo fresh")
        expect(page.locator("#meter-money")).to_contain_text("$0.61")
        expect(note).to_have_value("half a wo")
        assert page.evaluate("stage => stage.isConnected", stage), "the stage was exchanged"
        note.press_sequentially("rd")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("not heard yet")).to_be_visible()
        expect(note).to_have_value("")


def test_it_follows_the_newest_step_until_one_looks_back(
    browser: Browser, site: Site, tasks: dict[str, list[str]]
) -> None:
    with opened(browser, site, run_page(tasks, "failed")) as page:
        film, jump = page.locator("[data-film]"), page.get_by_role("button", name="Jump to live")
        page.wait_for_function("film.scrollLeft > 0 && film.scrollLeft + film.clientWidth >= film.scrollWidth - 2")
        expect(jump).to_be_hidden()
        film.evaluate("film => film.scrollTo(0, 0)")
        expect(jump).to_be_visible()
        page.keyboard.press("Shift+L")
        page.wait_for_function("film.scrollLeft > 0")
        expect(jump).to_be_hidden()


def test_it_pauses_by_key_and_takes_it_back(browser: Browser, site: Site, tasks: dict[str, list[str]]) -> None:
    with opened(browser, site, run_page(tasks, "running")) as page:
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        page.keyboard.press("p")
        expect(page.locator(".toast.success")).to_contain_text("It pauses")
        expect(page.get_by_role("button", name="Do not pause")).to_be_visible()
        page.keyboard.press("p")
        expect(page.locator("#pause")).to_be_visible()
        page.keyboard.press("3")
        expect(page.get_by_role("heading", name="Given")).to_be_visible()


def test_it_is_watched_paused_and_answered_on_a_phone(
    browser: Browser, site: Site, tasks: dict[str, list[str]]
) -> None:
    with browser.new_context(**PHONE) as context:
        context.add_cookies(site.cookies("ann"))
        page = context.new_page()
        page.goto(site.url + run_page(tasks, "running"))
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        expect(page.locator("[data-viewer]")).to_be_in_viewport()
        page.get_by_role("button", name="Pause").tap()
        expect(page.get_by_role("button", name="Do not pause")).to_be_visible()
        page.get_by_role("button", name="Do not pause").tap()
        expect(page.locator("#pause")).to_be_visible()
        page.goto(site.url + run_page(tasks, "hostile"))
        answer = page.get_by_label("Your answer")
        answer.tap()
        answer.press_sequentially("It is 42.")
        page.get_by_role("button", name="Answer").tap()
        expect(page.get_by_text("not heard yet")).to_be_visible()


def attach_everything(page: Page) -> None:
    page.set_input_files("[data-files]", {"name": "picked.txt", "mimeType": "text/plain", "buffer": b"picked"})
    for _ in range(2):
        page.evaluate(PASTE, ["image.png", "image/png"])
    page.locator("[data-drop]").evaluate(DROP, "dropped.csv")


def test_it_gathers_files_and_starts_with_ctrl_enter(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/tasks/new/?example=chart") as page:
        attach_everything(page)
        chips = page.locator("[data-attached] li")
        expect(chips).to_have_count(5)
        page.get_by_role("button", name="Take out picked.txt").click()
        expect(chips).to_have_count(4)
        page.get_by_text("Same in Python").click()
        code = page.locator("[data-live=code] code")
        expect(code).to_contain_text("'dropped.csv': Path('dropped.csv')")
        page.get_by_label("Runs").fill("2")
        expect(code).to_contain_text("runs=2")
        page.get_by_role("button", name="A file is there").click()
        expect(page.get_by_label("Checks, as TOML")).to_have_value(re.compile(r'path = "report.md"\n$'))
        page.get_by_label("What should the agent do?").press("Control+Enter")
        page.wait_for_url(re.compile(r"/tasks/[0-9a-z]{12}/$"))
        for name in ("sales.csv", "image.png", "image (2).png", "dropped.csv"):
            expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


@pytest.mark.usefixtures("tasks")
def test_it_says_back_when_and_saves_a_schedule_by_keyboard(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/tasks/new/?example=chart") as page:
        expect(page).to_have_title(re.compile(r"^\(\d+\) New task"))
        page.get_by_label("On a schedule").press("Space")
        page.get_by_label("When", exact=True).fill("every weekday at 9")
        expect(page.locator("[data-live=preview]")).to_contain_text("Every weekday at 09:00")
        expect(page.locator("[data-live=preview] li")).to_have_count(5)
        page.get_by_label("When", exact=True).fill("now and then")
        expect(page.locator("[data-live=preview]")).to_contain_text("“now” is not understood")
        page.get_by_role("button", name="every 2 hours").click()
        expect(page.locator("[data-live=preview]")).to_contain_text("Every 2 hours")
        page.get_by_text("The agent types them by name").click()
        page.get_by_role("button", name="Another one").click()
        expect(page.locator(".secret-row")).to_have_count(2)
        page.keyboard.press("Control+Enter")
        page.wait_for_url(re.compile(r"/schedules/[0-9a-z]{12}/$"))
        expect(page.get_by_role("heading", name="Every 2 hours")).to_be_visible()


def test_it_takes_one_to_the_mistake(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/tasks/new/") as page:
        page.set_input_files("[data-files]", {"name": "kept.txt", "mimeType": "text/plain", "buffer": b"kept"})
        page.get_by_label("Runs").fill("99")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#errors")).to_be_focused()
        expect(page.get_by_text("kept.txt")).to_be_visible()
        page.get_by_role("link", name="Runs: ensure this value is less than or equal to 16.").click()
        expect(page.get_by_label("Runs")).to_be_focused()
        expect(page.get_by_label("Runs")).to_have_value("99")


def test_it_works_without_javascript(browser: Browser, site: Site, tasks: dict[str, list[str]]) -> None:
    with opened(browser, site, run_page(tasks, "needs_help"), js=False) as page:
        expect(page.locator("noscript .note")).to_be_visible()
        page.get_by_label("Your answer").fill("It is 42.")
        page.get_by_role("button", name="Answer").click()
        expect(page.locator(".toast.success")).to_contain_text("Sent")
        expect(page.get_by_text("not heard yet")).to_be_visible()
        page.get_by_text("Change limits").click()
        page.get_by_role("textbox", name="Steps").fill("321")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#meter-steps")).to_contain_text("of 321 steps")
        page.get_by_role("link", name="Files").click()
        page.get_by_text("sales.csv", exact=True).click()
        expect(page.get_by_role("columnheader", name="north")).to_be_visible()
        page.get_by_role("link", name="Stop", exact=True).click()
        page.get_by_role("button", name="Stop it").click()
        expect(page.locator("h1 + .bar-state")).to_contain_text("Cancelled")


def test_it_shows_a_hostile_prompt_as_text(browser: Browser, site: Site, tasks: dict[str, list[str]]) -> None:
    dialogs: list[str] = []
    with opened(browser, site, run_page(tasks, "hostile")) as page:
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        expect(page.locator("h1")).to_contain_text("<img src=x onerror=alert(1)>")
        for path in ("/", "/tasks/", f"/tasks/new/?like={tasks['hostile'][0]}"):
            page.goto(site.url + path)
            assert page.locator("img[src=x]").count() == 0
    assert dialogs == []
