"""The trace page in a real Chromium, and what its pictures cost on the disk, in a whole installation.

A session on a real desktop gives the frames. Two long traces are made of them, with 2,000 and 30,000 steps. Opening is
from the start of the navigation until the picture is painted and the page answers to keys, with nothing cached in the
browser; a step change is from the key until the new picture and its details are shown; a search from Enter until the
count is. Bytes are those of all pictures of the session once they are packed, as a trace that is over
is soon, against one PNG for each of its steps; `bytes_ratio_at_once` is before that.
"""

import argparse
import io
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from .browser import CHROMIUM, FLAGS
from .installation import installation
from .session import script
from .stats import p50, p95, positive, report

PROBE = (Path(__file__).parent / "trace_probe.js").read_text()
SIZES = {2_000: 3, 30_000: 100}
"""Steps, and branches."""

PATIENCE = 60.0
QUERIES = (
    "lamp",
    "clicked at 120",
    "type:bash error:no",
    "by:human",
    "north south",
    "kind:verify",
    "due within",
    "grep",
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench trace", description=__doc__)
    parser.add_argument("--n", type=positive, default=60, help="step changes")
    parser.add_argument("--opens", type=positive, default=7, help="how often each trace is opened")
    parser.add_argument("--invented", action="store_true", help="with frames that were drawn, and without a machine")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with installation():
        import django

        django.setup()
        results: dict[str, float | int | str] = {}
        seen = "" if options.invented else session()
        made = {steps: long_trace(steps, branches, seen) for steps, branches in SIZES.items()}
        results |= storage(seen or made[2_000])
        with browser() as (page_of, address):
            for steps, trace_id in made.items():
                results |= opening(page_of, f"{address}/traces/{trace_id}/", steps, options.opens)
            results |= looking(page_of, f"{address}/traces/{made[2_000]}/", options.n)
    results["frames"] = "invented" if options.invented else "real"
    report(results)
    return 0


def session() -> str:
    """The trace of a real day's work."""
    from agents.api import run_task
    from godhand_web.management.commands.loginlink import owner

    limits = {"steps": 400}
    trace = run_task(owner(), "Work.", provider="scripted", options={"script": script()}, limits=limits, timeout=900)
    if trace.state != "succeeded":
        raise SystemExit(f"The session ended as {trace.state}.")
    return str(trace.pk)


def long_trace(steps: int, branches: int, like: str) -> str:
    from godhand_web.cli.place import manage

    wanted = ("--steps", str(steps), "--branches", str(branches), "--seed", str(steps))
    return manage("maketrace", *wanted, *(("--like", like) if like else ())).split()[-1]


def storage(trace_id: str) -> dict[str, float | int]:
    """Only actions count as steps, each with one picture as others keep it: PNG as Pillow writes it."""
    from django.db.models import Sum

    from godhand_web.cli.place import manage
    from traces.events import Kind
    from traces.models import Reference
    from traces.payloads import Sha256
    from traces.queries import all_events, stored

    pictures = Reference.objects.filter(trace=trace_id, blob__width__isnull=False)
    at_once = pictures.aggregate(size=Sum("blob__size"))["size"]
    # As the service's user, whose files the pictures are.
    manage("shell", "-v", "0", "-c", f"from traces import packing; packing.pack(seconds={PATIENCE * 10})")
    shown = [event.after for event in all_events(trace_id) if event.kind == Kind.ACTION and event.after]
    kept = pictures.values_list("blob_id", "blob__size")
    png = {sha256: png_bytes(stored(Sha256(sha256)).data) for sha256 in set(shown)}
    return {
        "bytes_ratio_vs_png": sum(size for _, size in kept) / sum(png[sha256] for sha256 in shown),
        "bytes_ratio_at_once": at_once / sum(png[sha256] for sha256 in shown),
        "bytes_per_step": sum(size for _, size in kept) / len(shown),
        "png_bytes_per_step": sum(png[sha256] for sha256 in shown) / len(shown),
        "pictures_per_step": len(kept) / len(shown),
    }


def png_bytes(data: bytes) -> int:
    out = io.BytesIO()
    Image.open(io.BytesIO(data)).convert("RGB").save(out, "png")
    return len(out.getvalue())


@contextmanager
def browser() -> Iterator[tuple[Any, str]]:
    """Makes pages that are logged in, each with nothing cached; and the site's address."""
    from django.conf import settings

    from godhand_web.cli.place import manage

    link = manage("loginlink").split()[-1]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        first = chromium.new_context().new_page()
        first.goto(link, wait_until="commit")
        first.wait_for_url(lambda address: "/login/" not in address, wait_until="commit")
        cookies = first.context.cookies()
        yield lambda: fresh(chromium, cookies), settings.PUBLIC_URL
        chromium.close()


def fresh(chromium: Browser, cookies: Any) -> Page:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(cookies)
    context.add_init_script(PROBE)
    return context.new_page()


def opening(page_of: Any, address: str, steps: int, times: int) -> dict[str, float]:
    taken = []
    for _ in range(times + 1):
        page = page_of()
        page.goto(address, wait_until="commit")
        wait_for(page, "window.probe.opened")
        taken.append(page.evaluate("window.probe.opened"))
        page.context.close()
    first, *rest = taken
    return {f"open_ms_{steps}": p50(rest), f"open_ms_{steps}_p95": p95(rest), f"open_ms_{steps}_first": first}


def looking(page_of: Any, address: str, times: int) -> dict[str, float | int]:
    page = page_of()
    page.goto(f"{address}?step=100")
    wait_for(page, "window.probe.opened")
    changes = [measured(page, lambda: page.keyboard.press("j"), "steps") for _ in range(times)]
    searches = [found(page, query) for query in QUERIES * 3]
    return {
        "step_ms_p50": p50(changes),
        "step_ms_p95": p95(changes),
        "search_ms_p50": p50(searches[len(QUERIES) :]),
        "search_ms_p95": p95(searches[len(QUERIES) :]),
        "search_ms_first": searches[0],
        "n": times,
    }


def found(page: Page, query: str) -> float:
    field = page.locator("main input[type=search]")
    field.fill("")
    wait_for(page, "!document.querySelector('[data-count]').textContent")
    field.focus()
    page.evaluate("query => window.probe.fill(query)", query)
    return measured(page, lambda: page.keyboard.press("Enter"), "searches")


def measured(page: Page, act: Any, which: str) -> float:
    before = page.evaluate(f"window.probe.{which}.length")
    page.wait_for_timeout(250)
    act()
    wait_for(page, f"window.probe.{which}.length > {before}")
    return float(page.evaluate(f"window.probe.{which}.at(-1)"))


def wait_for(page: Page, condition: str) -> None:
    """Playwright's own way to wait is forbidden by the page's content security policy."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        if time.monotonic() > deadline:
            raise SystemExit(f"In vain waited for {condition} at {page.url}.")
        page.wait_for_timeout(20)


if __name__ == "__main__":
    sys.exit(main())
