import os

import pytest

from sandboxes.errors import OutputLimit, Refused
from sandboxes.guest.client import MIB, Guest

from .conftest import UID, Daemon


def test_it_returns_what_was_written(guest: Guest) -> None:
    for data in (b"", "ünïcode\n".encode(), bytes(range(256))):
        guest.write_file("round trip", data)
        assert guest.read_file("round trip") == data


def test_it_carries_fifty_mebibytes_both_ways(guest: Guest, daemon: Daemon) -> None:
    data = os.urandom(MIB) * 50
    guest.write_file("large", data)
    assert guest.read_file("large") == data
    assert (daemon.home / "large").stat().st_uid == UID


def test_it_makes_parents(guest: Guest, daemon: Daemon) -> None:
    guest.write_file("a/b/c", b"1")
    guest.write_file(f"{daemon.home}/d/e", b"2", mode=0o750)
    assert (daemon.home / "a/b/c").read_bytes() == b"1"
    assert (daemon.home / "d/e").stat().st_mode & 0o777 == 0o750


def test_it_keeps_mode_and_owner_of_what_it_replaces(guest: Guest, daemon: Daemon) -> None:
    guest.write_file("kept", b"old", mode=0o711)
    guest.write_file(f"{daemon.home}/kept", b"new", user="root")
    info = (daemon.home / "kept").stat()
    assert (info.st_uid, info.st_mode & 0o777) == (UID, 0o711)
    assert guest.read_file("kept") == b"new"


def test_it_writes_through_a_link(guest: Guest, daemon: Daemon) -> None:
    guest.write_file("real", b"old")
    (daemon.home / "link").symlink_to("real")
    guest.write_file("link", b"new")
    assert (daemon.home / "link").is_symlink()
    assert (daemon.home / "real").read_bytes() == b"new"


def test_it_writes_in_place_where_no_new_file_may_be_made(guest: Guest, daemon: Daemon) -> None:
    folder = daemon.home / "closed"
    folder.mkdir()
    (folder / "open").write_bytes(b"something longer")
    (folder / "open").chmod(0o666)
    guest.write_file("closed/open", b"new")
    assert (folder / "open").read_bytes() == b"new"


def test_it_leaves_no_draft_behind(guest: Guest, daemon: Daemon) -> None:
    guest.write_file("drafts/one", b"1")
    assert [entry.name for entry in guest.list_dir("drafts")] == ["one"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("no such", FileNotFoundError),
        ("/", IsADirectoryError),
        ("/etc/shadow", PermissionError),
        ("/etc/passwd/x", NotADirectoryError),
    ],
)
def test_it_names_the_file_it_cannot_read(guest: Guest, path: str, error: type[OSError]) -> None:
    with pytest.raises(error, match=path):
        guest.read_file(path)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/", IsADirectoryError),
        ("new/", IsADirectoryError),
        ("/etc/shadow", PermissionError),
        ("/etc/new/file", PermissionError),
        ("/etc/passwd/x", NotADirectoryError),
    ],
)
def test_it_names_the_file_it_cannot_write(guest: Guest, path: str, error: type[OSError]) -> None:
    with pytest.raises(error, match=path):
        guest.write_file(path, b"x" * 1_000_000)
    guest.ping()


def test_it_respects_a_read_only_file_of_the_users_own(guest: Guest) -> None:
    guest.write_file("precious", b"old", mode=0o444)
    with pytest.raises(PermissionError, match="precious"):
        guest.write_file("precious", b"new")
    assert guest.read_file("precious") == b"old"


def test_it_refuses_a_file_larger_than_wanted_without_reading_it(guest: Guest) -> None:
    guest.exec(["truncate", "-s", "1T", "sparse"])
    with pytest.raises(OutputLimit, match="sparse"):
        guest.read_file("sparse")
    guest.write_file("exact", b"12345")
    assert guest.read_file("exact", limit=5) == b"12345"


@pytest.mark.parametrize("path", ["fifo", "/dev/zero"])
def test_it_does_not_hang_on_what_is_no_file(guest: Guest, path: str) -> None:
    guest.exec(["mkfifo", "fifo"])
    with pytest.raises(Refused, match="regular"):
        guest.read_file(path)
    with pytest.raises(Refused, match="regular"):
        guest.write_file(path, b"")


def test_it_reads_files_whose_size_is_not_known(guest: Guest) -> None:
    assert guest.read_file("/proc/self/status").startswith(b"Name:")


def test_it_refuses_names_no_file_can_have(guest: Guest) -> None:
    for path in ("a\0b", "\ud800", "x" * 5000):
        with pytest.raises(Refused):
            guest.write_file(path, b"")


def test_it_lists_a_directory(guest: Guest, daemon: Daemon) -> None:
    guest.write_file("listed/a file", b"123", mode=0o640)
    guest.exec(["mkdir", "listed/folder"])
    guest.exec(["ln", "-s", "/nowhere", "listed/link"])
    entries = {entry.name: entry for entry in guest.list_dir("listed")}
    assert {name: entry.kind for name, entry in entries.items()} == {
        "a file": "file",
        "folder": "directory",
        "link": "symlink",
    }
    assert (entries["a file"].size, entries["a file"].mode) == (3, 0o640)
    assert guest.stat("listed/a file") == entries["a file"]


def test_it_lists_only_what_may_be_listed(guest: Guest) -> None:
    with pytest.raises(NotADirectoryError, match="passwd"):
        guest.list_dir("/etc/passwd")
    with pytest.raises(PermissionError, match="/root"):
        guest.list_dir("/root")
