"""The command line. Each command is one module of this package with a `main`, imported when it is called."""

import os
import sys
from importlib import import_module

from sandboxes.host import here

from .commands import chosen
from .system import end_interrupted


def main(arguments: list[str]) -> int:
    module = import_module(f"godhand_web.cli.{chosen(arguments)}")
    code: int = module.main(arguments[1:])
    return code


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
    # The default depends on who asks, and the services run as somebody else.
    os.environ["GODHAND_HOME"] = str(here().home)
    try:
        try:
            code = main(sys.argv[1:])
        finally:
            sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        end_interrupted()
    except BrokenPipeError:
        # Whoever read us, such as `head`, has seen enough. What is still to be flushed has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
