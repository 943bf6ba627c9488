"""Whole directories, as the user who asks. The worker makes or takes the archive; the server moves its bytes."""

# ruff: noqa: PTH100, PTH103

import os
import shutil
import time

from .files import write_all
from .people import act_as, person_of
from .protocol import BODY_LIMIT, Channel, Header, Refusal, want, want_between
from .tar import Meter, pack
from .untar import ENTER, unpack

MOST_ENTRIES = 1 << 20


def meter_of(job: Header) -> Meter:
    most_bytes = want_between(job, "max_bytes", BODY_LIMIT, BODY_LIMIT)
    return Meter(most_bytes, want_between(job, "max_entries", MOST_ENTRIES, MOST_ENTRIES))


def send(channel: Channel, job: Header) -> None:
    path, meter = want(job, "path", str), meter_of(job)
    act_as(person_of(job))
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    outlet, inlet = os.pipe()
    try:
        channel.send({"ok": True}, descriptors=(outlet,))
        os.close(outlet)
        for piece in pack(folder, meter):
            write_all(inlet, piece)
    finally:
        os.close(inlet)
        os.close(folder)
    channel.send({"ok": True})


def receive(channel: Channel, job: Header) -> None:
    """Into a draft beside the target, which appears whole or not at all."""
    path, meter = want(job, "path", str), meter_of(job)
    act_as(person_of(job))
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.lexists(path):
        raise Refusal("failed", f"{path} is already there.")
    os.makedirs(folder, exist_ok=True)
    parent = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    draft = f".godhand-{os.getpid()}-{time.monotonic_ns()}"
    try:
        os.mkdir(draft, 0o700, dir_fd=parent)
        try:
            fill(channel, os.open(draft, ENTER, dir_fd=parent), meter)
            os.rename(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True, dir_fd=parent)
            raise
    finally:
        os.close(parent)
    channel.send({"ok": True})


def fill(channel: Channel, folder: int, meter: Meter) -> None:
    outlet, inlet = os.pipe()
    try:
        with os.fdopen(outlet, "rb") as source:
            try:
                channel.send({"ok": True}, descriptors=(inlet,))
            finally:
                os.close(inlet)
            unpack(folder, source, meter)
        os.fchmod(folder, 0o755)
    finally:
        os.close(folder)
