"""`file_exists` and `file_contains` in a machine."""

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox

from .scenes import checker, passed


@pytest.fixture
def note(machine: GvisorSandbox, folder: str) -> str:
    path = f"{folder}/note.txt"
    machine.write_file(path, "first line\nTotal: 12 €\nlast line\n".encode())
    return path


def exists(scene: MachineScene, path: str, **options: object) -> Finding:
    return checker("file_exists", path=path, **options).check(scene)


def contains(scene: MachineScene, path: str, **options: object) -> Finding:
    return checker("file_contains", path=path, **options).check(scene)


def test_it_finds_a_file(scene: MachineScene, note: str) -> None:
    assert passed(exists(scene, note, min_size=30, max_size=40))
    assert not passed(exists(scene, note, absent=True))


def test_it_misses_a_file(scene: MachineScene, folder: str) -> None:
    finding = exists(scene, f"{folder}/other.txt")
    assert not passed(finding)
    assert finding.actual == "There is no such file."
    assert passed(exists(scene, f"{folder}/other.txt", absent=True))
    assert passed(exists(scene, "/etc/passwd/other", absent=True))


@pytest.mark.parametrize("options", [{"min_size": 1000}, {"max_size": 10}])
def test_it_looks_at_the_size(scene: MachineScene, note: str, options: dict[str, object]) -> None:
    finding = exists(scene, note, **options)
    assert not passed(finding)
    assert finding.actual == "The file has 35 bytes."


def test_it_follows_a_link_to_a_file(scene: MachineScene, machine: GvisorSandbox, note: str, folder: str) -> None:
    machine.exec(["ln", "-s", "note.txt", f"{folder}/link"])
    assert passed(exists(scene, f"{folder}/link", min_size=35, max_size=35))
    assert passed(contains(scene, f"{folder}/link", text="first"))


def test_it_takes_no_folder_for_a_file(scene: MachineScene, folder: str) -> None:
    assert exists(scene, folder).actual == "It is a directory."
    assert "not a regular file" in contains(scene, folder, text="a").actual


def test_it_starts_at_the_users_home(scene: MachineScene) -> None:
    assert "directory" in exists(scene, "Documents").actual


def test_it_finds_text(scene: MachineScene, note: str) -> None:
    assert passed(contains(scene, note, text="Total: 12 €"))
    assert not passed(contains(scene, note, text="Total: 12 €", absent=True))


def test_it_finds_a_pattern_in_a_line(scene: MachineScene, note: str) -> None:
    assert passed(contains(scene, note, regex=r"^Total: \d+ €$"))
    assert passed(contains(scene, note, regex=r"^Total: \d\d\d", absent=True))


def test_it_shows_what_is_there_instead(scene: MachineScene, note: str) -> None:
    finding = contains(scene, note, text="Total: 13 €")
    assert not passed(finding)
    assert "Total: 13 €" in finding.expected
    assert "Total: 12 €" in finding.actual
    assert "\n" not in finding.actual


def test_it_reads_other_encodings(scene: MachineScene, machine: GvisorSandbox, folder: str) -> None:
    machine.write_file(f"{folder}/latin", "Grüße".encode("latin-1"))
    assert passed(contains(scene, f"{folder}/latin", text="Grüße", encoding="latin-1"))
    finding = contains(scene, f"{folder}/latin", text="Grüße")
    assert not passed(finding)
    assert "not text in utf-8" in finding.actual


def test_it_does_not_search_more_than_it_may(scene: MachineScene, note: str) -> None:
    finding = contains(scene, note, text="Total", max_bytes=10)
    assert finding.outcome is Outcome.ERRORED
    assert finding.detail == "The file has 35 bytes; at most 10 are searched."


def test_it_gives_up_on_a_pattern_that_takes_for_ever(scene: MachineScene, machine: GvisorSandbox, folder: str) -> None:
    machine.write_file(f"{folder}/as", b"a" * 60 + b"b")
    finding = contains(scene, f"{folder}/as", regex="(a+)+$")
    assert finding.outcome is Outcome.ERRORED
    assert "more time or memory" in finding.detail
