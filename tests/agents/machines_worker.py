"""The worker of this host's machines, on the test's database: python -m tests.agents.machines_worker DATABASE."""

import os
import sys


def main(database: str) -> None:
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    from godhand_web.celery import app

    queue = f"machines.{settings.MACHINE_HOST}"
    options = ["--pool=threads", "--concurrency=4", "--without-gossip", "--without-mingle", "--loglevel=WARNING"]
    app.worker_main(["worker", "-n", "machines@%h", "-Q", queue, *options])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
    main(*sys.argv[1:])
