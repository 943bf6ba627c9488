"""The worker that is root believes nothing that a service could have written, in a row or in a message."""

import shutil
from pathlib import Path

import pytest

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Gone, Refused
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.snapshots import Snapshots


@pytest.mark.parametrize("name", ["../../../etc", "..", "", ".runsc", "a/b", "x-y", "thirteenchars"])
def test_it_takes_no_path_for_a_machine(name: str) -> None:
    with pytest.raises(Gone, match="There is no machine"):
        GvisorSandbox.attach({"id": name})


def test_it_saves_what_root_has_made_and_not_what_a_row_says(machine: GvisorSandbox) -> None:
    lie = {"image_root": "/", "image": "other", "image_digest": "0" * 64, "parent": new_id(), "options": {}}
    ref = GvisorSandbox.attach({**machine.handle, **lie}).snapshot("trust")
    try:
        true = machine.handle
        assert (ref.image_root, ref.image) == (true["image_root"], true["image"])
        assert (ref.image_digest, ref.parent) == (true["image_digest"], true["parent"])
    finally:
        Snapshots(here()).delete(ref.id)


def test_it_does_not_save_a_machine_whose_making_nobody_wrote_down(machine: GvisorSandbox, tmp_path: Path) -> None:
    facts = machine.directory / "facts.json"
    shutil.move(facts, tmp_path)
    try:
        with pytest.raises(Refused, match="earlier GodHand"):
            machine.snapshot("trust")
    finally:
        shutil.move(tmp_path / "facts.json", facts)
    assert machine.alive()
