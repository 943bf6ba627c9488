"""What a branch is told of a person's time with its machine: its open calls are closed, and its next turn says so.

What happened meanwhile is the person's: of it the trace has the screen before and after, and nothing between, unless
they want it recorded (`witness.py`).
"""

import io
import logging
from contextlib import suppress

import numpy as np
from django.conf import settings
from PIL import Image

from sandboxes.display.diff import diff
from sandboxes.display.screen import Screen
from sandboxes.display.settle import PANEL_CLOCK
from sandboxes.errors import SandboxError
from traces.errors import Damaged
from traces.events import Actor, Change, Fate, Kind, Recorder
from traces.models import Event
from traces.payloads import EventId, Sha256
from traces.queries import stored

from .album import Album
from .models import Branch, Takeover
from .workplace import Workplace

log = logging.getLogger(__name__)

NOT_EXECUTED = "Not executed: a person took control of the desktop first."
INTERRUPTED = "A person took control while this was being done; nobody knows how much of it happened."
AFTER = "after take-over"
TOOK = "took control"
LOOKED_BACK = 50


def close_calls(branch: Branch, recorder: Recorder) -> None:
    """Refused, not queued: the screen they were meant for will not be there any more."""
    mine = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, kind=Kind.ACTION)
    for event in mine.filter(fate__in=(Fate.PLANNED, Fate.INTENT)).order_by("seq"):
        if event.fate == Fate.PLANNED:
            recorder.refused(EventId(event.pk), NOT_EXECUTED)
        else:
            recorder.uncertain(EventId(event.pk), INTERRUPTED)


def tell(branch: Branch, place: Workplace, recorder: Recorder) -> None:
    """Before a branch is driven on. Harmless when nothing is untold; each part is written once, whoever dies."""
    untold = branch.takeovers.filter(told=False, began_at__isnull=False, ended_at__isnull=False)
    for takeover in untold:
        close_calls(branch, recorder)
        if takeover.choice != Takeover.Choice.STOP:
            _save(place)
        _record(branch, takeover, place, recorder)
        Takeover.objects.filter(pk=takeover.pk).update(told=True)


def duration(takeover: Takeover) -> str:
    minutes, seconds = divmod(_seconds(takeover), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def words(takeover: Takeover) -> str:
    ended = "and then ran out of time" if takeover.choice == Takeover.Choice.EXPIRED else "and gives it back"
    note = f" Their note: {takeover.note}" if takeover.note else ""
    return (
        f"A person has controlled this desktop for {duration(takeover)}, {ended}.{note}\n\n"
        "What you saw before may be out of date: this is the screen now."
    )


def last_picture(branch: Branch) -> Sha256 | None:
    """The screen as the branch last saw it, unless that was long ago."""
    mine = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name).order_by("-seq")[:LOOKED_BACK]
    for after, before, data in mine.values_list("after", "before", "data"):
        shown = [part["picture"] for part in data.get("parts", ()) if "picture" in part]
        if seen := after or before or next(iter(shown), ""):
            return Sha256(seen)
    return None


def seen_before(takeover: Takeover) -> Sha256 | None:
    """The screen as the agent last saw it before the person came."""
    branch = takeover.branch
    mine = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, kind=Kind.TAKEOVER, name=TOOK)
    found = mine.filter(pk__gt=takeover.head or 0).order_by("seq").values_list("before", flat=True).first()
    return Sha256(found) if found else last_picture(branch)


def _save(place: Workplace) -> None:
    if settings.TAKEOVER_SNAPSHOTS:
        place.leave()
        try:
            place.keeper.snapshot(AFTER)
        except SandboxError as error:
            log.warning("no snapshot after a take-over: %s", error)


def _record(branch: Branch, takeover: Takeover, place: Workplace, recorder: Recorder) -> None:
    screen, album = place.look(), Album(recorder, lambda: place.frame)
    step, turn = f"takeover {takeover.pk}", f"handback {takeover.pk}"
    if not _is_written(branch, step):
        before, after = seen_before(takeover), album.keep(screen)
        recorder.event(
            Kind.TAKEOVER,
            Actor.HUMAN,
            {
                "text": f"Human control, {duration(takeover)}{', not recorded' if takeover.private else ''}",
                "who": takeover.person.get_username() if takeover.person else "",
                "seconds": _seconds(takeover),
                "choice": takeover.choice,
                "note": takeover.note,
                "recorded": not takeover.private,
            },
            name=step,
            before=before,
            after=after,
            change=change_between(before, screen),
        )
    if not _is_written(branch, turn):
        _, sha256 = album.show(screen)
        text, head = words(takeover), recorder.head
        assert head
        count = Event.objects.values_list("turn", flat=True).get(pk=head)
        recorder.message(Actor.HUMAN, text, turn=count, parts=({"text": text}, {"picture": sha256}), name=turn)


def _is_written(branch: Branch, name: str) -> bool:
    return Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, name=name).exists()


def _seconds(takeover: Takeover) -> int:
    assert takeover.began_at
    assert takeover.ended_at
    return round((takeover.ended_at - takeover.began_at).total_seconds())


def change_between(before: Sha256 | None, after: Screen) -> Change | None:
    """None where the two cannot be compared."""
    with suppress(Damaged, OSError):
        if before:
            with Image.open(io.BytesIO(stored(before).data)) as picture:
                seen = Screen.from_rgb(np.asarray(picture.convert("RGB")))
            if seen.size == after.size:
                found = diff(seen, after, (PANEL_CLOCK,))
                return Change(found.ratio, [(box.x, box.y, box.width, box.height) for box in found.boxes])
    return None
