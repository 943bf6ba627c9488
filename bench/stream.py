"""From a step that is recorded to its sight, with 1, 10, 50 and 10 × 10 watchers; and pages of a full house.

A script types letters on real desktops, a step in two seconds each, quicker than models are. Recorded is when the
step's event was written, by its own clock; seen with one watcher is painted by a real Chromium, with more the arrival
at programs that read as the page does. A stalled watcher holds its connection and reads nothing; its memory is what the
server, or the gate, has grown by for each of them. Pages are those of 1,000 tasks and 10,000 machines, asked for one
after the other.
"""

import argparse
import asyncio
import http.client
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from . import crowd
from .browser import CHROMIUM, FLAGS
from .installation import installation, wait
from .stats import milliseconds, p50, p95, positive, report
from .step import BEGIN, END, STEP
from .watchers import WHOLE_SCREEN, Stalled, Visitor, Watcher, looking, memory, processor_seconds, watching

PROBE = (Path(__file__).parent / "stream_probe.js").read_text()
PAGES = ("/", "/tasks/", "/machines/", "/machines/?tab=stopped", "/machines/?tab=ended", "/traces/")
MACHINES = WATCHERS = 10
CROWD = 50
STALLED = 10


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench stream", description=__doc__)
    parser.add_argument("--seconds", type=positive, default=20, help="how long each crowd watches")
    parser.add_argument("--visits", type=positive, default=15, help="to each page")
    parser.add_argument("--pages", action="store_true", help="measure nothing but the pages")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with installation():
        import django

        django.setup()
        from godhand_web.management.commands.loginlink import owner

        crowd.settle(owner())
        visitor = logged_in()
        results = pages(visitor, options.visits)
        if not options.pages:
            results |= watched(visitor, options.seconds)
    report(results)
    return 0


def logged_in() -> Visitor:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from godhand_web.management.commands.loginlink import owner

    session, person = SessionStore(), owner()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.create()
    return Visitor(settings.PUBLIC_URL, f"{settings.SESSION_COOKIE_NAME}={session.session_key}")


def pages(visitor: Visitor, visits: int) -> dict[str, float | int | str]:
    """Each page's own median too: the slowest is the one that somebody waits for."""
    taken: dict[str, list[float]] = {path: [] for path in PAGES}
    line = http.client.HTTPConnection(visitor.url.removeprefix("http://"), timeout=60)
    for round_number in range(visits + 1):
        for path in PAGES:
            spent = milliseconds(lambda path=path: visit(line, path, visitor))  # type: ignore[misc]
            if round_number:
                taken[path].append(spent)
    found: dict[str, float | int | str] = {"page_ms_p50": p50([one for each in taken.values() for one in each])}
    found |= {"page_ms_slowest_p50": max(map(p50, taken.values()))}
    found |= {f"page_ms{path.replace('?tab=', '').replace('/', '_').rstrip('_')}": p50(taken[path]) for path in PAGES}
    return found | {"tasks": crowd.TASKS, "machines": crowd.MACHINES, "page_n": visits}


def visit(line: http.client.HTTPConnection, path: str, visitor: Visitor) -> None:
    line.request("GET", path, headers={"Cookie": visitor.cookie})
    answer = line.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path} answered {answer.status}.")


def watched(visitor: Visitor, seconds: int) -> dict[str, float | int | str]:
    first = begin(seconds)
    until_typing([first])
    results: dict[str, float | int | str] = {}
    results |= figures("1", in_chromium(visitor, first, seconds))
    results |= figures("10", arrivals(visitor, [first] * WATCHERS, seconds))
    results |= figures("50", arrivals(visitor, [first] * CROWD, seconds))
    results |= {"stalled_watcher_mb": max(stalled_listener(visitor, first, seconds), stalled_viewer(visitor, first))}
    results |= gate(visitor, first)
    others = [begin(seconds) for _ in range(MACHINES - 1)]
    until_typing(others)
    busy = {name: processor_seconds(pid) for name, pid in services().items()}
    results |= figures("10x10", arrivals(visitor, [first, *others] * WATCHERS, seconds))
    for name in ("web", "agents"):
        results[f"{name}_cores_10x10"] = (processor_seconds(services()[name]) - busy[name]) / seconds
    return results | {"host_load": os.getloadavg()[0]}


def begin(seconds: int) -> Any:
    from agents.api import submit
    from godhand_web.management.commands.loginlink import owner

    script = BEGIN + STEP * (seconds * 25) + END
    options = {"script": script, "latency": 1.5}
    return submit(owner(), "Type.", provider="scripted", options=options, limits={"steps": 5000, "minutes": 60})


def until_typing(runs: Iterable[Any]) -> None:
    from traces.models import Event

    for run in runs:
        typed = Event.objects.filter(trace=run.trace_id, name="type", fate="done")
        if not wait(typed.exists, 180):
            raise SystemExit(f"Run {run.pk} does not come to type.")


def arrivals(visitor: Visitor, runs: Sequence[Any], seconds: int) -> list[float]:
    """Milliseconds, of every step at each of its watchers. None may be missing in the middle."""
    watchers = asyncio.run(watching(visitor, [run.pk for run in runs], seconds))
    return [late for watcher, run in zip(watchers, runs, strict=True) for late in lateness(watcher, run)]


def lateness(watcher: Watcher, run: Any) -> list[float]:
    """Of the steps that came while it watched: the first message brings what was there before."""
    from traces.models import Event

    first = min(watcher.seen.values(), default=0.0)
    fresh = {seq: at for seq, at in watcher.seen.items() if at > first}
    if not fresh:
        raise SystemExit("A watcher saw nothing.")
    shown = Event.objects.filter(trace=run.trace_id, kind="action", seq__range=(min(fresh), max(fresh)))
    recorded = dict(shown.values_list("seq", "mono_ms"))
    if missing := recorded.keys() - fresh.keys():
        raise SystemExit(f"A watcher never saw {len(missing)} of {len(recorded)} steps.")
    return [fresh[seq] - at for seq, at in recorded.items()]


def in_chromium(visitor: Visitor, run: Any, seconds: int) -> list[float]:
    """On the page itself, with the live desktop beside it."""
    name, _, value = visitor.cookie.partition("=")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": visitor.url}])
        context.add_init_script(PROBE)
        page = context.new_page()
        page.goto(f"{visitor.url}/tasks/{run.task_id}/runs/{run.pk}/")
        page.wait_for_timeout(3000)
        known = len(page.evaluate("window.probe.seen()"))
        page.wait_for_timeout(1000 * seconds)
        seen = page.evaluate("window.probe.seen()")[known:]
        chromium.close()
    wall = time.time() * 1000 - time.monotonic() * 1000
    watcher = Watcher(run.pk, {int(seq): at - wall for seq, at in seen if at} | {0: 0.0})
    return lateness(watcher, run)


def figures(name: str, late: Sequence[float]) -> dict[str, float | int | str]:
    return {f"event_ms_p50_{name}": p50(late), f"event_ms_p95_{name}": p95(late), f"event_n_{name}": len(late)}


def services() -> dict[str, int]:
    from godhand_web.cli import record

    found = record.read()
    assert found is not None
    return {name: pid for name, (pid, _) in found["services"].items()}


def stalled_listener(visitor: Visitor, run: Any, seconds: int) -> float:
    server = services()["web"]
    before = memory(server)
    stalled = [Stalled(visitor.socket(run.pk), visitor) for _ in range(STALLED)]
    time.sleep(seconds)
    grown = memory(server) - before
    for one in stalled:
        one.close()
    return max(0.0, grown) / STALLED


def desktop_address(run: Any) -> str:
    from django.conf import settings
    from redis import Redis

    from godhand_web.management.commands.loginlink import owner
    from sandboxes.gate import tickets

    machine = run.branches.get().machine
    with Redis.from_url(settings.REDIS_URL) as redis:
        ticket = tickets.issue(redis, machine.pk, str(owner().pk), "view")
    return f"ws://localhost:{settings.GATE_PORT}/vnc/{machine.pk}?ticket={ticket}"


def stalled_viewer(visitor: Visitor, run: Any) -> float:
    """One that goes on asking for whole screens, four megabytes each, and takes none."""
    pid = services()["gate"]
    stalled = Stalled(desktop_address(run), visitor)
    stalled.say(b"RFB 003.008\n")
    stalled.say(b"\x01")
    stalled.say(b"\x01")
    wait(lambda: False, 2)
    before = memory(pid)
    for _ in range(100):
        stalled.say(WHOLE_SCREEN)
    wait(lambda: False, 5)
    grown = memory(pid) - before
    stalled.close()
    return max(0.0, grown)


def gate(visitor: Visitor, run: Any) -> dict[str, float | int | str]:
    pid = services()["gate"]
    before = memory(pid)
    addresses = [desktop_address(run) for _ in range(CROWD)]
    viewers, during = asyncio.run(looking(visitor, addresses, 20, lambda: memory(pid)))
    took = [one for viewer in viewers for one in viewer.took]
    return {"gate_ms_p50_50": p50(took), "gate_ms_p95_50": p95(took), "gate_mb_per_viewer": (during - before) / CROWD}


if __name__ == "__main__":
    sys.exit(main())
