"""Exports in a real browser. A trace in one HTML file, opened from a disk, shows everything and asks nobody."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from redis import Redis

from godhand_web import inlining
from tests.guest.waiting import eventually

from .site import ROOT, Site
from .test_pages_in_browser import AUDIT, AXE, COLOURS, RULES, WATCH_POLICY, check, needs_axe
from .test_pages_in_browser import opened as visited

PAGES = ("/traces/{example}/export/", "/traces/{empty}/export/", "/traces/{hostile}/export/", "/traces/import/")
MADE = {"whole": ("example", "html"), "small": ("example", "html_small"), "hostile": ("hostile", "html")}
DRAWN = "image => image.complete && image.naturalWidth"


@pytest.fixture(scope="module")
def known(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = site.made("traces")
    return found


@pytest.fixture(scope="module")
def files(site: Site, known: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("files")
    made = {name: place / f"{name}.html" for name in MADE}
    for name, (trace, kind) in MADE.items():
        site.run("django", "exporttrace", known[trace], kind, str(made[name]))
    return made


@pytest.fixture(scope="module")
def worker(site: Site, redis_url: str) -> Iterator[None]:
    """At work, and without the messages that other tests have left."""
    argv = ["-m", "celery", "-A", "godhand_web.celery", "worker", "-Q", "agents", "-P", "threads", "-c", "2"]
    with (site.home / "worker.log").open("wb") as log, Redis.from_url(redis_url) as redis:
        redis.delete("agents", "alive:celery")
        process = subprocess.Popen([sys.executable, *argv], cwd=ROOT, env=site.env, stdout=log, stderr=log)
        try:
            eventually(lambda: bool(redis.exists("alive:celery")), 60)
            yield
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def opened(browser: Browser, path: Path) -> Iterator[Page]:
    """The file in a browser that says when anything else is asked for, or anything runs that should not."""
    context = browser.new_context(reduced_motion="reduce")
    context.add_init_script(WATCH_POLICY)
    page = context.new_page()
    wrong: list[str] = []
    page.on("request", lambda request: wrong.append(request.url) if is_elsewhere(request.url, path) else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    try:
        page.goto(path.as_uri())
        expect(page.locator("[data-tiles] a").first).to_be_visible()
        yield page
        assert wrong == []
        assert page.evaluate("broken") == []
    finally:
        context.close()


def is_elsewhere(url: str, path: Path) -> bool:
    return not url.startswith("data:") and url != path.as_uri()


def test_it_shows_tree_pictures_and_checks_from_a_disk(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["whole"]) as page:
        assert page.url.startswith("file:///")
        assert page.get_by_role("treeitem").count() >= 8
        expect(page.locator("[data-before]")).to_be_visible()
        assert page.locator("[data-before]").evaluate(DRAWN) == 1280
        expect(page.locator(".detail-panel")).to_contain_text("1 passed, 1 failed")
        assert page.locator("[data-layers] rect").count() > 0, "checks are drawn on the picture"
        film = page.locator("[data-tiles] .tile-shot").first.evaluate("tile => tile.style.backgroundImage")
        assert film.startswith('url("data:image/webp;base64,')


def test_it_goes_from_step_to_step_and_branch_to_branch(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["whole"]) as page:
        number = page.locator("[data-at]")
        last = re.match(r"(\d+) / \1", number.inner_text())
        assert last, "it opens at the last step"
        page.keyboard.press("ArrowLeft")
        expect(number).not_to_contain_text(last[0])
        page.keyboard.press("g")
        page.keyboard.press("g")
        expect(number).to_contain_text("1 /")
        page.get_by_label("Branch", exact=True).select_option("b1")
        page.locator("[data-scrub]").focus()
        page.keyboard.press("G")
        expect(page.locator(".detail-panel")).to_contain_text("2 passed")
        page.get_by_role("link", name="Reasoning").click()
        expect(page.locator(".detail-panel")).to_contain_text("No model decided this")
        page.keyboard.press("d")
        expect(page.locator("[data-diff]")).to_be_visible()


def test_it_finds_words_and_opens_files_and_runs(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["whole"]) as page:
        page.get_by_label("Search this trace").fill("SUM(B2")
        expect(page.locator("[data-count]")).to_have_text(re.compile("1 hit$"))
        page.get_by_label("Search this trace").fill("")
        page.get_by_label("Branch", exact=True).select_option("b1")
        page.get_by_role("button", name="Last step").or_(page.get_by_role("link", name="Last step")).click()
        page.get_by_role("link", name="Files").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download pivot.csv").click()
        assert Path(download.value.path()).read_bytes() == b"region,month\n"
        for row in page.locator("[role=treeitem][data-open]").all():
            row.click()
            expect(row).to_be_hidden()


def test_the_small_one_has_full_pictures_of_key_screens_only(browser: Browser, files: dict[str, Path]) -> None:
    assert files["small"].stat().st_size < files["whole"].stat().st_size
    with opened(browser, files["small"]) as page:
        assert page.locator("[data-after]").evaluate(DRAWN) == 1280, "the last screen is one of them"
        sizes = page.locator("script[id^=picture-]").evaluate_all("all => all.map(one => one.textContent.length)")
        assert min(sizes) < max(sizes) / 2


def test_what_others_wrote_stays_text(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["hostile"]) as page:
        for _ in range(8):
            for tab in ("reasoning", "observation", "model", "files", "action"):
                page.locator(f"[data-tab={tab}]").click()
                expect(page.locator(f"[data-tab={tab}][aria-current]")).to_be_visible()
            page.locator("[data-go=previous]").click()
        assert page.locator("[onerror], [onload], iframe, object, embed, main script:not([type])").count() == 0


@needs_axe
def test_it_is_accessible(browser: Browser, files: dict[str, Path]) -> None:
    context = browser.new_context(bypass_csp=True)
    try:
        page = context.new_page()
        page.goto(files["whole"].as_uri())
        page.add_script_tag(path=AXE)
        for width, (theme, rules) in product((1440, 390), (("light", RULES), ("dark", COLOURS))):
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            assert page.evaluate(AUDIT, rules) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        context.close()


def test_it_refuses_scripts_it_cannot_put_into_a_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inlining, "STATIC", tmp_path)
    for number, text in enumerate(("export default 1;\n", 'import * as all from "./x.js";\n', "'</script>';\n")):
        (tmp_path / f"{number}.js").write_text(text)
        with pytest.raises(ValueError, match="cannot be put"):
            inlining.script(f"{number}.js")


@pytest.mark.usefixtures("worker")
def test_it_makes_a_film_while_one_looks_on(
    browser: Browser, site: Site, known: dict[str, Any], tmp_path: Path
) -> None:
    with visited(browser, site, f"/traces/{known['example']}/export/") as page:
        page.get_by_label("Branch", exact=True).select_option("b1")
        expect(page).to_have_url(f"{site.url}/traces/{known['example']}/export/?kind=zip&branch=b1")
        page.get_by_role("radio", name="MP4").check()
        page.get_by_role("button", name="Export").click()
        file = page.get_by_role("link", name=".mp4")
        expect(file).to_be_visible()
        expect(page.get_by_text("branch b1 ·")).to_be_visible()
        with page.expect_download() as download:
            file.click()
        download.value.save_as(tmp_path / "a.mp4")
        assert download.value.suggested_filename.startswith("Pivot the sales sheet by region 20")
    assert (tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.usefixtures("worker")
def test_it_imports_in_the_browser(browser: Browser, site: Site, known: dict[str, Any], tmp_path: Path) -> None:
    with visited(browser, site, f"/traces/{known['example']}/export/") as page:
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("link", name=".zip").click()
        download.value.save_as(tmp_path / "a.zip")
        page.goto(f"{site.url}/traces/import/")
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_role("alert")).to_contain_text("Choose a file.")
        page.get_by_label("A bundle").set_input_files(tmp_path / "a.zip")
        page.get_by_role("button", name="Import").click()
        page.get_by_role("link", name="Pivot the sales sheet").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Pivot the sales sheet by region")
        assert known["example"] not in page.url
    zipfile.ZipFile(tmp_path / "a.zip").extract("index.html", tmp_path)
    with opened(browser, tmp_path / "index.html") as page:
        expect(page.get_by_role("treeitem").first).to_be_visible()
        assert page.locator("[data-before]").evaluate(DRAWN) == 1280


@needs_axe
@pytest.mark.parametrize("path", PAGES)
def test_its_pages_are_accessible_and_fit(browser: Browser, site: Site, known: dict[str, Any], path: str) -> None:
    with visited(browser, site, path.format(**known), fresh=False) as page:
        check(page)


def test_it_works_without_javascript(browser: Browser, site: Site, known: dict[str, Any]) -> None:
    with visited(browser, site, f"/traces/{known['example']}/export/", js=False) as page:
        page.get_by_label("Branch", exact=True).select_option("b1")
        page.get_by_role("button", name="Show sizes").click()
        assert "branch=b1" in page.url
        page.get_by_role("radio", name="GIF").check()
        page.get_by_role("button", name="Export", exact=False).click()
        expect(page.get_by_text("branch b1 ·").first).to_be_visible()
