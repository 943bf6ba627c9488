"""Makes big traces that look real, for measuring and for trying out pages."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from itertools import islice
from random import Random

from django.db import transaction
from django.utils import timezone

from . import bulk, lifecycle
from .blobs import BlobStore
from .events import Fate, Recorded
from .invented.scenery import SIZE, Scene, around, scenes
from .invented.story import GOAL, Story
from .invented.telling import Book, Teller, Told
from .lifecycle import Person
from .models import Blob, ScreenText, Trace
from .payloads import Sha256
from .pictures import WEBP
from .queries import all_events
from .storage import default_store

FEWEST = 8
"""Steps of a branch."""

STATES = ("succeeded", "succeeded", "failed")


@dataclass(frozen=True)
class Shot:
    blob: Blob
    scene: Scene

    @property
    def sha256(self) -> Sha256:
        return Sha256(self.blob.pk)


def generate(
    owner: Person,
    *,
    steps: int = 2000,
    branches: int = 1,
    seed: int = 1,
    frames: int = 120,
    like: str = "",
    blobs: BlobStore | None = None,
) -> Trace:
    """A trace that has ended, with exactly so many steps on so many branches, and `frames` different screens.

    With the id of a trace in `like`, what was done on the desktop and seen there is taken from that one. The same seed
    gives the same story. Raises ValueError when there are too few steps for the branches, or nothing to take.
    """
    if branches < 1 or frames < 1 or steps < branches * FEWEST:
        raise ValueError(f"A branch has {FEWEST} steps or more, and there is at least one branch and one frame.")
    random = Random(seed)
    store = blobs or default_store()
    shots = _shots_of(like) if like else [_shot(store, scene) for scene in islice(scenes(seed), frames)]
    if not shots:
        raise ValueError("There is no such trace, or it has no pictures.")
    with transaction.atomic():
        meta = {"goal": GOAL, "image": "desktop", "backend": "gvisor", "provider": "scripted", "model": "invented"}
        trace = lifecycle.begin(owner, title=f"{GOAL} ({steps} steps)", meta=meta)
        book = Book(trace.pk, bulk.reserve(3 * steps), random)
        _tell(book, shots, _shares(random, steps, branches))
        files = [_kept(store, data, media_type) for data, media_type in book.files.values()]
        bulk.write(trace, book.events, [*{shot.sha256: shot.blob for shot in shots}.values(), *files])
        _read(shots)
        ended = max(event.ended_at for event in book.events if event.ended_at)
        began = book.events[0].started_at
        Trace.objects.filter(pk=trace.pk).update(state=random.choice(STATES), created_at=began, ended_at=ended)
    trace.refresh_from_db()
    return trace


def _tell(book: Book, shots: Sequence[Shot], shares: Sequence[int]) -> None:
    """Branches begin one by one, anywhere in what was told, and then go on side by side."""
    images, pictures = [shot.scene for shot in shots], [shot.sha256 for shot in shots]
    began = timezone.now() - timedelta(hours=8)
    waiting = list(shares)
    main = Teller(book, "main", Story(book.random, images), pictures, Told(None, 0, began, pictures[0]), waiting.pop(0))
    main.begin()
    active = [main]
    while active:
        teller = book.random.choice(active)
        teller.go_on()
        if teller.over:
            active.remove(teller)
        if waiting and book.places and (not active or book.random.random() < 0.02):
            share, place = waiting.pop(0), book.random.choice(book.places)
            story = Story(book.random, images, book.random.randrange(len(images)))
            child = Teller(book, f"b{len(shares) - len(waiting) - 1}", story, pictures, place, share)
            child.fork()
            active.append(child)


def _shares(random: Random, steps: int, branches: int) -> list[int]:
    """How many steps each branch gets; the first one the most."""
    weights = [2.0 + branches / 20, *(random.uniform(0.5, 1.5) for _ in range(branches - 1))]
    spare = steps - branches * FEWEST
    shares = [FEWEST + int(spare * weight / sum(weights)) for weight in weights]
    shares[0] += steps - sum(shares)
    return shares


def _shots_of(trace_id: str) -> list[Shot]:
    events = [event for event in all_events(trace_id) if event.act and event.after and event.fate == Fate.DONE]
    blobs = Blob.objects.in_bulk({event.after for event in events if event.after})
    return [Shot(blobs[event.after], _scene_of(event)) for event in events if event.after]


def _scene_of(event: Recorded) -> Scene:
    boxes = [tuple(box) for box in event.result["change"]["boxes"]]
    box = reduce(around, boxes) if boxes else None
    return Scene(event.name, event.data["input"], event.act, f"The next one is {event.name}.", box)


def _shot(store: BlobStore, scene: Scene) -> Shot:
    assert scene.image is not None
    out = io.BytesIO()
    scene.image.save(out, "webp", lossless=True, exact=True, method=1)
    return Shot(_kept(store, out.getvalue(), WEBP, width=SIZE[0], height=SIZE[1]), scene)


def _kept(store: BlobStore, data: bytes, media_type: str, **sides: int) -> Blob:
    sha256, size = store.add(data, media_type)
    return Blob(sha256=sha256, media_type=media_type, size=size, **sides)


def _read(shots: Sequence[Shot]) -> None:
    """What is on an invented screen is known without reading it."""
    read = {
        shot.sha256: ScreenText(
            blob=shot.blob, text="\n".join(spot[0] for spot in shot.scene.spots), spots=[*map(list, shot.scene.spots)]
        )
        for shot in shots
        if shot.scene.image
    }
    ScreenText.objects.bulk_create(read.values(), ignore_conflicts=True)
