"""Desktops at work, for measuring what a fork keeps: an editor with unsaved text, a page that counts, a busy shell."""

import time
from collections.abc import Callable

from sandboxes.actions import Key, Type
from sandboxes.base import Sandbox

UNSAVED = "Nobody has saved this line."
PAGE = """<!doctype html><meta charset="utf-8"><title>count 0</title><body style="font:700 20vh sans-serif">
<p id="n">0</p><script>let n = 0; setInterval(() => { n += 1; document.title = "count " + n;
document.getElementById("n").textContent = n; }, 100)</script>"""
TICKER = """
import time
last = time.time()
while True:
    time.sleep(0.02)
    now = time.time()
    if now - last > 0.06:
        with open("/tmp/gaps", "a") as file:
            print(now - last, file=file)
    last = now
"""


class TookTooLong(SystemExit):
    pass


def until(what: str, condition: Callable[[], bool], timeout: float = 60) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TookTooLong(f"{what}: not after {timeout:g} s")
        time.sleep(0.02)


def run(sandbox: Sandbox, *argv: str) -> str:
    return sandbox.exec(list(argv), timeout=60).stdout.decode(errors="replace")


def still(sandbox: Sandbox, seconds: float = 0.5) -> None:
    with sandbox.desktop() as desktop:
        deadline = time.monotonic() + 20
        while desktop.wait_for_change(desktop.version, seconds) and time.monotonic() < deadline:
            pass


def open_editor(sandbox: Sandbox) -> None:
    with sandbox.guest() as guest:
        guest.bash("mousepad >/dev/null 2>&1 &")
    run(sandbox, "xdotool", "search", "--sync", "--onlyvisible", "--name", "Mousepad")
    still(sandbox)
    with sandbox.desktop() as desktop:
        desktop.perform(Type(UNSAVED))
    until("unsaved text in the editor", lambda: "*" in windows(sandbox))


def start_shell_job(sandbox: Sandbox) -> None:
    """It starts no process: twenty a second would keep half a core busy, in every child too."""
    with sandbox.guest() as guest:
        guest.bash(
            "cd /var/tmp; kept=42; mkfifo /tmp/pause; "
            "(i=0; while :; do i=$((i+1)); echo $i >/tmp/job; read -rt 0.1 <>/tmp/pause; done) &"
        )


def open_counter(sandbox: Sandbox) -> None:
    sandbox.write_file("/tmp/counter.html", PAGE.encode())
    with sandbox.guest() as guest:
        guest.bash("chromium --app=file:///tmp/counter.html --window-size=600,500 >/dev/null 2>&1 &")
    until("a counting page", lambda: counter(sandbox) > 3, 90)


def start_ticker(sandbox: Sandbox) -> None:
    sandbox.write_file("/tmp/ticker.py", TICKER.encode())
    with sandbox.guest() as guest:
        guest.bash("python3 /tmp/ticker.py >/dev/null 2>&1 &", session="ticker")


def longest_gap(sandbox: Sandbox) -> float:
    """How long the machine stood still since this was last asked, in milliseconds, by its own wall clock."""
    gaps = [float(line) for line in run(sandbox, "cat", "/tmp/gaps").split()]
    sandbox.exec(["rm", "-f", "/tmp/gaps"])
    return max(gaps, default=0.0) * 1000


def windows(sandbox: Sandbox) -> str:
    return run(sandbox, "wmctrl", "-l")


def counter(sandbox: Sandbox) -> int:
    titles = (line.rpartition("count ")[2] for line in windows(sandbox).splitlines() if "count " in line)
    return max((int(word) for word in titles if word.isdigit()), default=0)


def job(sandbox: Sandbox) -> int:
    return int(run(sandbox, "cat", "/tmp/job") or 0)


def unsaved_text(sandbox: Sandbox) -> str:
    """Copied out of the editor's window by its own keys."""
    run(sandbox, "wmctrl", "-a", "Mousepad")
    until("the editor in front", lambda: "Mousepad" in run(sandbox, "xdotool", "getactivewindow", "getwindowname"))
    with sandbox.desktop() as desktop:
        desktop.perform(Key("ctrl+a"))
        desktop.perform(Key("ctrl+c"))
    until("something on the clipboard", lambda: bool(clipboard(sandbox)), 10)
    return clipboard(sandbox)


def clipboard(sandbox: Sandbox) -> str:
    return run(sandbox, "timeout", "10", "xclip", "-o", "-selection", "clipboard")


def shell_state(sandbox: Sandbox) -> str:
    with sandbox.guest() as guest:
        return guest.bash('echo "$kept $PWD $(jobs -r | grep -c /tmp/job)"').output.decode().strip()
