"""`./godhand demo`: everything, from nothing, and at its end a task that is forked live and judged by its checks."""

import argparse
import subprocess

from django.conf import settings

from .place import ROOT, as_service, python
from .up import login_link, run


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand demo", description="Start everything and show an agent at work.")
    parser.add_argument("--once", action="store_true", help="end after the task; the exit code says how it went")
    chosen = parser.parse_args(arguments)
    return run(after_start=lambda: _show(chosen.once))


def _show(once: bool) -> int | None:
    result = subprocess.run(
        as_service(python("manage.py", "demotask")),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    page = result.stdout.strip()
    if once:
        print(f"\n  Its page is {settings.PUBLIC_URL}{page} when ./godhand up runs.")
        return result.returncode
    if page:
        print(f"\n  See it at  {login_link(page)}\n  The link works once. Ctrl-C stops everything.\n", flush=True)
    return result.returncode or None
