"""`./godhand demo`: everything, from nothing, and at its end a task that is forked live and judged by its checks."""

import argparse
import subprocess
import time

from django.conf import settings

from .place import ROOT, as_service, python
from .processes import end_group, start_time
from .system import announce
from .up import Tend, login_link, run

PATIENCE = 5.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand demo", description="Start everything and show an agent at work.")
    parser.add_argument("--once", action="store_true", help="end after the task; the exit code says how it went")
    chosen = parser.parse_args(arguments)
    return run(after_start=lambda tend: _show(chosen.once, tend))


def _show(once: bool, tend: Tend) -> int | None:
    """How the task went matters to a script; a person goes on looking, also at one that failed."""
    code, page = _do_task(tend)
    if once:
        announce(f"\n  Its page is {settings.PUBLIC_URL}{page} when ./godhand up runs.")
        return code
    announce(f"\n  See it at  {login_link(page)}\n  The link works once.")
    return None


def _do_task(tend: Tend) -> tuple[int, str]:
    """Its exit code and its page. Apart from our terminal, whose Ctrl-C is for us alone; it ends when we are ended."""
    argv = as_service(python("manage.py", "demotask"))
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as task:
        try:
            while task.poll() is None:
                tend()
                time.sleep(0.25)
        except BaseException:
            end_group(task.pid, start_time(task.pid) or 0, PATIENCE)
            raise
        return task.returncode, task.stdout.read().strip() if task.stdout else ""
