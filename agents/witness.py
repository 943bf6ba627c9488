"""Records what a person does with a branch's machine, where they want that: a picture whenever the screen differs.

A worker on the host of the machines goes round. It only looks, on a connection of its own.
"""

import logging

from django.conf import settings

from sandboxes import lifecycle as machines
from sandboxes.display.glance import Glance
from sandboxes.display.screen import Screen
from sandboxes.errors import SandboxError
from sandboxes.models import State as MachineState
from traces.errors import TraceError
from traces.events import Actor, Kind

from . import vault
from .album import MEDIA_TYPE
from .coords import Frame
from .errors import AgentError
from .handback import change_between, last_picture
from .leases import Lease
from .models import Takeover
from .runner import masker_for, recorder_for

log = logging.getLogger(__name__)


class Witness:
    """Goes round; not for several threads."""

    def __init__(self) -> None:
        self._glances: dict[int, Glance] = {}

    def go_round(self) -> None:
        going = Takeover.objects.filter(private=False, began_at__isnull=False, ended_at=None)
        here = going.filter(branch__machine__host=settings.MACHINE_HOST, branch__machine__state=MachineState.READY)
        related = "person", "branch__machine", "branch__run__task", "branch__run__trace"
        wanted = {one.pk: one for one in here.select_related(*related)}
        for number in [each for each in self._glances if each not in wanted]:
            self._glances.pop(number).close()
        for takeover in wanted.values():
            self._look(takeover)

    def _look(self, takeover: Takeover) -> None:
        try:
            glance = self._glances.get(takeover.pk) or self._begin(takeover)
            if glance.look():
                keep(takeover, glance.screen())
        except (SandboxError, TraceError, AgentError, OSError) as error:
            log.warning("a person at branch %s is not recorded: %s", takeover.branch_id, error)
            if old := self._glances.pop(takeover.pk, None):
                old.close()

    def _begin(self, takeover: Takeover) -> Glance:
        assert takeover.branch.machine
        sandbox = machines.attach(takeover.branch.machine)
        endpoint = sandbox.endpoint()
        glance = Glance.connect(endpoint.host, endpoint.vnc_port, sandbox.lifeline())
        self._glances[takeover.pk] = glance
        return glance


def keep(takeover: Takeover, screen: Screen) -> None:
    """Raises TraceError, and Fenced when the branch is not the person's any more; AgentError without its secrets."""
    branch, before = takeover.branch, last_picture(takeover.branch)
    change = change_between(before, screen)
    if change is not None and not change.boxes:
        return
    secrets = vault.secrets_of(branch.run.task)
    lease = Lease(branch.pk, branch.fence)
    recorder = recorder_for(branch, lease, vault.redactor_for(secrets), masker_for(secrets))
    picture = Frame(screen.size, screen.size, media_type=MEDIA_TYPE).picture(screen)
    after = recorder.picture(picture.data, picture.media_type, picture.width, picture.height, exact=True)
    who = takeover.person.get_username() if takeover.person else "somebody"
    data = {"text": f"{who} drives", "who": who}
    recorder.event(Kind.OBSERVATION, Actor.HUMAN, data, name="person", before=before, after=after, change=change)


_witness = Witness()


def go_round() -> None:
    """Again and again, by one thread of one process on the machines' host."""
    _witness.go_round()
