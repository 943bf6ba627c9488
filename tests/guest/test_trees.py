"""Directories up and down."""

import os
import stat
from pathlib import Path

import pytest

from sandboxes.errors import OutputLimit, Refused
from sandboxes.guest.client import Guest

from .conftest import UID, Daemon
from .waiting import eventually


def described(root: Path) -> dict[str, object]:
    """Everything that travels, by path."""
    found: dict[str, object] = {}
    for path in root.rglob("*"):
        name = os.fsencode(path.relative_to(root)).decode(errors="backslashreplace")
        if path.is_symlink():
            found[name] = path.readlink()
        elif path.is_dir():
            found[name] = "directory"
        else:
            info = path.stat()
            found[name] = (path.read_bytes(), stat.S_IMODE(info.st_mode), int(info.st_mtime))
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    (root / "a/empty").mkdir(parents=True)
    (root / "a/ünï code\n").write_bytes(bytes(range(256)))
    (root / "a" / os.fsdecode(b"\xff\xfe")).write_bytes(b"no text")
    (root / ("long" * 60)).write_bytes(b"x" * 5000)
    (root / "program").write_bytes(b"#!/bin/sh\n")
    (root / "program").chmod(0o755)
    (root / "a/link").symlink_to("../program")
    (root / "dangling").symlink_to("no such")
    os.utime(root / "program", (1_000_000_000, 1_000_000_000))
    return root


def test_it_brings_back_what_was_sent(guest: Guest, daemon: Daemon, source: Path, tmp_path: Path) -> None:
    guest.upload_tree(source, "trees/there")
    there = daemon.home / "trees/there"
    assert described(there) == described(source)
    assert {path.lstat().st_uid for path in (there, *there.rglob("*"))} == {UID}
    guest.download_tree("trees/there", tmp_path / "back")
    assert described(tmp_path / "back") == described(source)
    assert [path.name for path in (daemon.home / "trees").iterdir()] == ["there"]


def test_it_takes_rights_away_that_others_should_not_have(guest: Guest, tmp_path: Path) -> None:
    guest.exec(["sh", "-c", "mkdir rights && cd rights && touch x && chmod 6777 x && mkdir -m 1777 d"])
    guest.download_tree("rights", tmp_path / "rights")
    assert stat.S_IMODE((tmp_path / "rights/x").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "rights/d").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "rights").stat().st_mode) == 0o700


def test_it_sends_hard_links_as_files_of_their_own(guest: Guest, tmp_path: Path) -> None:
    guest.exec(["sh", "-c", "mkdir twins && echo 1 >twins/a && ln twins/a twins/b"])
    guest.download_tree("twins", tmp_path / "twins")
    assert (tmp_path / "twins/b").stat().st_nlink == 1


def test_it_never_replaces_anything(guest: Guest, source: Path, tmp_path: Path) -> None:
    guest.write_file("occupied/x", b"")
    for path in ("occupied", "occupied/x", ".", "/"):
        with pytest.raises(Refused, match="already there"):
            guest.upload_tree(source, path)
    (tmp_path / "occupied").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        guest.download_tree("occupied", tmp_path / "occupied")
    guest.ping()


@pytest.mark.parametrize(
    ("path", "error"),
    [("no such", FileNotFoundError), ("/etc/passwd", NotADirectoryError), ("/root", PermissionError)],
)
def test_it_names_the_directory_it_cannot_bring(guest: Guest, tmp_path: Path, path: str, error: type[OSError]) -> None:
    with pytest.raises(error, match=path):
        guest.download_tree(path, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    guest.ping()


def test_it_names_the_entry_it_may_not_read(guest: Guest, tmp_path: Path) -> None:
    guest.write_file("secretive/below/secret", b"", mode=0)
    with pytest.raises(PermissionError, match="'below/secret'"):
        guest.download_tree("secretive", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_it_uploads_only_where_the_user_may_write(guest: Guest, source: Path) -> None:
    with pytest.raises(PermissionError, match="/etc"):
        guest.upload_tree(source, "/etc/new")
    assert not Path("/etc/new").exists()


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        ("shadow", "ln -s /etc/shadow x", "lead out"),
        ("up", "ln -s ../../secret x", "lead out"),
        ("proc", "ln -s /proc/1/root x", "lead out"),
        ("fifo", "mkfifo x", "neither"),
        ("socket", "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"x\")'", "neither"),
        ("deep", "mkdir -p " + "d/" * 33, "deep"),
    ],
)
def test_it_refuses_in_a_sentence(guest: Guest, tmp_path: Path, name: str, make: str, sentence: str) -> None:
    assert guest.exec(["sh", "-c", f"mkdir odd-{name} && cd odd-{name} && {make}"]).returncode == 0
    with pytest.raises(Refused, match=sentence):
        guest.download_tree(f"odd-{name}", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    guest.ping()


def test_it_refuses_devices(guest: Guest, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        guest.download_tree("/dev", tmp_path / "new", user="root")
    with pytest.raises((Refused, OSError)):
        guest.download_tree("/proc/self", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_it_stops_before_a_file_that_is_larger_than_allowed(guest: Guest, tmp_path: Path) -> None:
    guest.exec(["sh", "-c", "mkdir tebibyte && truncate -s 1T tebibyte/x"])
    with pytest.raises(OutputLimit, match="more than"):
        guest.download_tree("tebibyte", tmp_path / "new")
    guest.exec(["sh", "-c", "mkdir three && touch three/1 three/2 three/3"])
    with pytest.raises(OutputLimit, match="more than 2 entries"):
        guest.download_tree("three", tmp_path / "new", max_entries=2)
    assert list(tmp_path.iterdir()) == []


def test_it_leaves_nothing_in_the_machine_of_an_upload_that_fails_here(guest: Guest, source: Path) -> None:
    os.mkfifo(source / "a/z")
    with pytest.raises(Refused, match="a/z"):
        guest.upload_tree(source, "failed/upload")
    guest.ping()
    with pytest.raises(OutputLimit):
        guest.upload_tree(source, "failed/upload", max_entries=3)
    eventually(lambda: guest.list_dir("failed") == [])
