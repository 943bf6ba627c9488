"""The run's page by keys alone, on a real desktop: one step at a time, a snapshot, the full window, and on again."""

from playwright.sync_api import Page, expect

from .running import Up
from .test_live_recovery import PATIENCE, echoed, launch, page  # noqa: F401


def test_its_keys_step_save_and_fill_the_window(running: Up, page: Page) -> None:  # noqa: F811
    launch(page)
    acts, pause, resume = (page.locator(name) for name in (".acts", "#pause", "#resume"))
    expect(acts).to_contain_text("echo step-1", timeout=PATIENCE)
    page.keyboard.press("f")
    expect(page.locator("[data-full]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("f")
    expect(page.locator("[data-full]")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press(".")
    expect(resume).to_contain_text("Resume", timeout=PATIENCE)
    page.keyboard.press("s")
    expect(acts).to_contain_text("Snapshot", ignore_case=True, timeout=PATIENCE)
    page.keyboard.press("p")
    expect(acts).to_contain_text(f"echo step-{max(echoed(page)) + 2}", timeout=PATIENCE)
    expect(pause).to_be_visible()
    page.keyboard.press(".")
    expect(resume).to_contain_text("Resume", timeout=PATIENCE)
    held = max(echoed(page))
    page.keyboard.press(".")
    expect(acts).to_contain_text(f"echo step-{held + 1}", timeout=PATIENCE)
    page.locator("#stop").press("Enter")
    page.get_by_role("button", name="Stop it").press("Enter")
    expect(page.locator(".bar-state")).to_contain_text("Cancelled", timeout=PATIENCE)
