"""Files and directories of a machine."""

import io
import os
from pathlib import Path

import pytest

from sandboxes.base import Sandbox
from sandboxes.errors import OutputLimit, Refused

MIB = 1 << 20


def test_it_returns_what_was_written(sandbox: Sandbox) -> None:
    for data in (b"", bytes(range(256))):
        sandbox.write_file("contract/new/file with ünï code", data)
        assert sandbox.read_file("contract/new/file with ünï code") == data


def test_it_carries_fifty_mebibytes_both_ways(sandbox: Sandbox) -> None:
    data = os.urandom(MIB) * 50
    sandbox.write_file("/tmp/large", data)
    assert sandbox.read_file("/tmp/large") == data
    sandbox.exec(["rm", "/tmp/large"])


def test_it_streams_what_is_too_large_to_hold(sandbox: Sandbox) -> None:
    data = os.urandom(MIB) * 101
    sandbox.write_from("streamed", io.BytesIO(data))
    with pytest.raises(OutputLimit):
        sandbox.read_file("streamed")
    kept = io.BytesIO()
    assert sandbox.read_to("streamed", kept) == len(data)
    assert kept.getvalue() == data
    sandbox.exec(["rm", "streamed"])


@pytest.mark.parametrize(
    ("path", "error"),
    [("no such", FileNotFoundError), ("/etc", IsADirectoryError), ("/etc/shadow", PermissionError)],
)
def test_it_names_the_file_it_cannot_read(sandbox: Sandbox, path: str, error: type[OSError]) -> None:
    with pytest.raises(error, match=path):
        sandbox.read_file(path)


@pytest.mark.parametrize(
    ("path", "error"),
    [("/etc", IsADirectoryError), ("/etc/shadow", PermissionError), ("/etc/new/file", PermissionError)],
)
def test_it_names_the_file_it_cannot_write(sandbox: Sandbox, path: str, error: type[OSError]) -> None:
    with pytest.raises(error, match=path):
        sandbox.write_file(path, b"x" * MIB)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        ("ln -s /etc/shadow odd", PermissionError),
        ("ln -s /dev/zero odd", Refused),
        ("ln -s odd odd", (Refused, OSError)),
        ("mkfifo odd", Refused),
        ("truncate -s 101M odd", OutputLimit),
    ],
)
def test_it_reads_files_only_and_without_hanging(
    sandbox: Sandbox, make: str, error: type[Exception] | tuple[type[Exception], ...]
) -> None:
    sandbox.exec(["sh", "-c", f"rm -f odd; {make}"])
    with pytest.raises(error):
        sandbox.read_file("odd")
    sandbox.exec(["rm", "odd"])


def test_it_brings_directories_there_and_back(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "source/below").mkdir(parents=True)
    (tmp_path / "source/below/file").write_bytes(bytes(range(256)))
    (tmp_path / "source/link").symlink_to("below/file")
    sandbox.upload_tree(tmp_path / "source", "tree/copy")
    assert sandbox.exec(["stat", "-c", "%U", "tree/copy/below/file"]).stdout == b"agent\n"
    sandbox.download_tree("tree/copy", tmp_path / "back")
    assert (tmp_path / "back/link").readlink() == Path("below/file")
    assert (tmp_path / "back/link").read_bytes() == bytes(range(256))
    sandbox.exec(["rm", "-r", "tree"])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        ("ln -s /etc/shadow x", Refused),
        ("ln -s ../x x", Refused),
        ("mkfifo x", Refused),
        ("touch x && chmod 0 x", PermissionError),
    ],
)
def test_it_brings_no_directory_that_could_do_harm(
    sandbox: Sandbox, tmp_path: Path, make: str, error: type[Exception]
) -> None:
    assert sandbox.exec(["sh", "-c", f"mkdir harm && cd harm && {make}"]).returncode == 0
    with pytest.raises(error, match="x"):
        sandbox.download_tree("harm", tmp_path / "harm")
    assert list(tmp_path.iterdir()) == []
    sandbox.exec(["rm", "-r", "harm"])


def test_it_brings_no_more_than_is_wanted(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.exec(["sh", "-c", "mkdir much && truncate -s 101M much/x"])
    with sandbox.guest() as guest:
        with pytest.raises(OutputLimit, match="bytes"):
            guest.download_tree("much", tmp_path / "much", max_bytes=100 * MIB)
        with pytest.raises(OutputLimit, match="entries"):
            guest.download_tree("/usr", tmp_path / "much", max_entries=1)
    assert list(tmp_path.iterdir()) == []
    sandbox.exec(["rm", "-r", "much"])
