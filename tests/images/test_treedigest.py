import os
from pathlib import Path

import pytest

from sandboxes.images.treedigest import measure


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").write_text("one")
    (tmp_path / "a/link").symlink_to("file")
    return tmp_path


def test_it_ignores_times_and_counts_bytes(tree: Path) -> None:
    before = measure(tree)
    os.utime(tree / "a/file", (0, 0))
    assert measure(tree) == before
    assert before.size == 3


def test_it_counts_a_hard_link_once(tree: Path) -> None:
    (tree / "again").hardlink_to(tree / "a/file")
    assert measure(tree).size == 3


def test_it_sees_every_kind_of_change(tree: Path) -> None:
    seen = [measure(tree).digest]
    (tree / "a/file").write_text("two")
    seen.append(measure(tree).digest)
    (tree / "a/file").chmod(0o755)
    seen.append(measure(tree).digest)
    (tree / "a/link").unlink()
    (tree / "a/link").symlink_to("elsewhere")
    seen.append(measure(tree).digest)
    (tree / "a/b").rename(tree / "a/c")
    seen.append(measure(tree).digest)
    assert len(set(seen)) == len(seen)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_it_sees_a_change_of_owner(tree: Path) -> None:
    before = measure(tree)
    os.chown(tree / "a/file", 1000, 1000)
    assert measure(tree).digest != before.digest
