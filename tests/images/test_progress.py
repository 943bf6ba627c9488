"""A build that one can watch."""

import fcntl
from pathlib import Path

import pytest

from sandboxes.errors import BuildFailed
from sandboxes.images import progress, workshop


def test_it_tells_how_far_a_build_is_and_how_long_the_last_one_took(tmp_path: Path) -> None:
    said: list[str] = []
    with workshop.locked(tmp_path, lambda: None), progress.recorded(tmp_path, said.append) as say:
        say("resolving packages")
        build = progress.read(tmp_path)
        assert build is not None
        assert (build.state, [phase for _, phase in build.phases]) == ("running", ["resolving packages"])
    build = progress.read(tmp_path)
    assert build is not None
    assert (build.state, said) == ("done", ["resolving packages"])
    with workshop.locked(tmp_path, lambda: None), progress.recorded(tmp_path, said.append):
        again = progress.read(tmp_path)
        assert again is not None
        assert again.usual == pytest.approx(build.seconds)


def test_it_keeps_why_a_build_failed(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed), progress.recorded(tmp_path, lambda _: None):
        raise BuildFailed("The disk ran full.")
    build = progress.read(tmp_path)
    assert build is not None
    assert (build.state, build.error) == ("failed", "The disk ran full.")


def test_it_knows_a_builder_that_died(tmp_path: Path) -> None:
    with (tmp_path / workshop.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (tmp_path / progress.REPORT).write_text('{"state": "running", "started": 5, "phases": [[3, "unpacking"]]}')
        build = progress.read(tmp_path)
        assert build is not None
        assert build.state == "running"
    dead = progress.read(tmp_path)
    assert dead is not None
    assert (dead.state, dead.seconds) == ("interrupted", 3)


def test_it_shows_the_end_of_a_long_log_and_nothing_of_none(tmp_path: Path) -> None:
    assert progress.log_tail(tmp_path) == ""
    assert progress.read(tmp_path) is None
    (tmp_path / "build.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    assert progress.log_tail(tmp_path, lines=2) == "line 99998\nline 99999"
