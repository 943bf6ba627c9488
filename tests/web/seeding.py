"""One process that runs seeds for a site, one after another: Django is started once, not for each of them.

A request is a line of JSON, a module and its arguments; so is the answer, what it printed and what went wrong.
"""

import io
import json
import os
import runpy
import sys
import traceback
from contextlib import redirect_stdout

import django
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()


def run(module: str, *argv: str) -> dict[str, str]:
    sys.argv = [module, *argv]
    printed, failure = io.StringIO(), ""
    with redirect_stdout(printed):
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=False)
        except Exception:
            failure = traceback.format_exc()
    close_old_connections()
    return {"printed": printed.getvalue(), "failure": failure}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)
