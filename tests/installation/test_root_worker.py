"""The one worker that is root takes what only root can do from the broker, and nothing else."""

import pytest

from godhand_web.cli.processes import wait_until

from .running import Up

SEND = """
from django.conf import settings
from godhand_web.celery import app
app.send_task("NAME", ["000000000000", ""], queue=f"machines.{settings.MACHINE_HOST}")
"""


@pytest.mark.parametrize("name", ["agents.tasks.drive", "traces.tasks.work", "sandboxes.tasks.screenshot"])
def test_it_refuses_the_work_of_others(running: Up, name: str) -> None:
    installation = running.installation
    log = installation.host.logs / "machines.log"
    sent = installation.call("manage", "shell", "-c", SEND.replace("NAME", name))
    assert sent.returncode == 0, sent.stderr
    assert wait_until(lambda: f"unregistered task of type '{name}'" in log.read_text(), 30), log.read_text()[-2000:]
    assert "machines" in installation.living()
