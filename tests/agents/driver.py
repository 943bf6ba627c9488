"""A worker that drives one branch of the test's database, and dies where it is told to.

python -m tests.agents.driver DATABASE BRANCH [MOMENT], with MOMENT one of the keys of MOMENTS.
"""

import os
import signal
import sys
from typing import Any, NoReturn


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def main(database: str, branch_id: str, moment: str = "") -> None:
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    from agents import runner
    from traces.recorder import DatabaseRecorder

    class Mortal(DatabaseRecorder):
        def reply(self, *given: Any, **more: Any) -> Any:
            stored = super().reply(*given, **more)
            return die() if moment == "after the reply" else stored

        def intent(self, *given: Any, **more: Any) -> None:
            super().intent(*given, **more)
            if moment == "before the act":
                die()

        def done(self, *given: Any, **more: Any) -> None:
            if moment == "after the act":
                die()
            super().done(*given, **more)

    vars(runner)["DatabaseRecorder"] = Mortal
    print("driving", flush=True)
    runner.drive(branch_id)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
    main(*sys.argv[1:])
