"""Real builds of a tiny image: mmdebstrap unpacks busybox and nothing else."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandboxes.errors import BuildFailed, NotBuilt, Unavailable
from sandboxes.images import store, workshop
from sandboxes.images.builder import build, require_tools
from sandboxes.images.furnish import installed

from .conftest import WriteRecipe

needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mmdebstrap"), reason="needs root and mmdebstrap")
BUILD_IN_ANOTHER_PROCESS = """
import signal, sys
from pathlib import Path
from sandboxes.images.builder import build
signal.signal(signal.SIGINT, signal.default_int_handler)
build("tiny", lambda line: print(line, flush=True), recipes=Path(sys.argv[1]))
"""


@pytest.fixture
def small_disk(images: Path) -> Iterator[Path]:
    images.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=320m", "none", str(images)], check=True)
    yield images
    subprocess.run(["umount", "--lazy", str(images)], check=True)


@pytest.fixture
def tiny(images: Path, write_recipe: WriteRecipe) -> Path:
    start = ["[[start]]", 'name = "idle"', 'argv = ["sleep", "9"]', 'user = "agent"']
    user = ["[user]", 'name = "agent"', 'folders = ["Desktop"]']
    folder = write_recipe("tiny", 'packages = ["busybox-static"]', "space_mib = 64", *start, *user, variant="extract")
    (folder / "files/usr/bin").mkdir(parents=True)
    (folder / "files/usr/bin/sh").symlink_to("busybox")
    (folder / "files/etc").mkdir()
    (folder / "files/etc/motd").write_text("hello\n")
    (folder / "setup.sh").write_text("sh -c 'busybox test -d /proc/1; echo done > /etc/set-up'\n")
    return folder.parent


def start_building(recipes: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", BUILD_IN_ANOTHER_PROCESS, str(recipes)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "building" in process.stdout.readline()
    assert "resolving" in process.stdout.readline()
    return process


def unfinished(images: Path) -> list[str]:
    return [path.name for path in (images / "tiny").iterdir() if path.name.startswith(".building")]


@needs_root
def test_it_builds_a_real_image_and_the_second_time_at_once(images: Path, tiny: Path) -> None:
    lines: list[str] = []
    image = build("tiny", lines.append, recipes=tiny)
    assert lines[0] == "building the image “tiny”"
    assert [line.split("s  ")[1] for line in (lines[1], lines[-1])] == ["resolving packages", "done"]
    assert image == store.find("tiny")
    assert image.root == images / "tiny" / image.digest[:16] / "rootfs"
    assert (image.root / "etc/motd").read_text() == "hello\n"
    assert (image.root / "etc/set-up").read_text() == "done\n"
    assert (image.root / "home/agent/Desktop").stat().st_uid == 1000
    assert (image.root / "opt/godhand/init").stat().st_mode & 0o777 == 0o755
    [start] = json.loads((image.root / "opt/godhand/start.json").read_text())
    assert (start["argv"], start["user"]) == (["sleep", "9"], "agent")
    assert unfinished(images) == []

    silent: list[str] = []
    assert build("tiny", silent.append, recipes=tiny) == image
    assert silent == []


def test_it_keeps_the_previous_image_and_prunes_older_ones(images: Path) -> None:
    place = images / "tiny"
    published: list[store.Image] = []
    for letter in "abc":
        digest = letter * 64
        (place / ".building-1/rootfs").mkdir(parents=True)
        (place / ".building-1/manifest.json").write_text(json.dumps({"digest": digest, "size": 1}))
        workshop.publish(place, place / ".building-1", digest)
        published.append(store.find("tiny"))
        workshop.prune(place, keep=published[-2:])
    assert [image.root.is_dir() for image in published] == [False, True, True]
    assert store.built() == [published[2]]


@needs_root
def test_it_survives_being_killed(
    images: Path, tiny: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    process = start_building(tiny)
    process.kill()
    process.communicate()
    assert unfinished(images)
    assert list(elsewhere.iterdir()) == []
    with pytest.raises(NotBuilt):
        store.find("tiny")
    image = build("tiny", lambda line: None, recipes=tiny)
    assert image.root.is_dir()
    assert unfinished(images) == []


@needs_root
def test_it_takes_pip_with_it_when_it_is_killed(
    images: Path, write_recipe: WriteRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for an index that never answers."""
    packages = ['packages = ["busybox-static"]', 'python = ["awaited==1"]', "space_mib = 64"]
    folder = write_recipe("tiny", *packages, variant="extract")
    (folder / "files/usr/lib/python3.13").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as index:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{index.getsockname()[1]}/simple")
        index.settimeout(120)
        process = start_building(folder.parent)
        pip, _ = index.accept()
        with pip:
            process.kill()
            process.communicate()
            pip.settimeout(10)
            while pip.recv(4096):
                pass


@needs_root
def test_it_leaves_nothing_when_interrupted(images: Path, tiny: Path) -> None:
    process = start_building(tiny)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode != 0
    assert unfinished(images) == []


@needs_root
def test_it_waits_for_another_build_and_says_so(images: Path, tiny: Path) -> None:
    process = start_building(tiny)
    lines: list[str] = []
    image = build("tiny", lines.append, recipes=tiny)
    process.communicate()
    assert process.returncode == 0
    assert [line.split("s  ")[1] for line in lines] == ["another build of tiny is running; waiting for it"]
    assert image == store.find("tiny")


@needs_root
def test_it_never_prunes_what_is_mounted_somewhere(images: Path) -> None:
    build_of_a_running_process = images / "tiny/abc"
    assert not workshop.in_use(build_of_a_running_process)
    (build_of_a_running_process / "rootfs").mkdir(parents=True)
    bind = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$0"; echo mounted; read done']
    with subprocess.Popen(
        [*bind, build_of_a_running_process / "rootfs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert workshop.in_use(build_of_a_running_process)
        process.communicate(b"\n")
    assert not workshop.in_use(build_of_a_running_process)


@needs_root
def test_it_unmounts_before_it_sweeps(images: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    inside = images / "tiny/.building-1/rootfs/mnt"
    inside.mkdir(parents=True)
    subprocess.run(["mount", "--bind", precious, inside], check=True)
    workshop.sweep(images / "tiny")
    assert (precious / "file").exists()
    assert unfinished(images) == []


@needs_root
def test_it_names_a_package_that_does_not_exist(images: Path, recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("tiny", 'packages = ["no-such-package-at-all"]', variant="extract")
    with pytest.raises(BuildFailed, match=r"a package that does not exist: no-such-package-at-all\."):
        build("tiny", lambda line: None, recipes=recipes)
    assert unfinished(images) == []


@needs_root
def test_it_says_how_much_space_it_needs(images: Path, recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("tiny", "space_mib = 1048576")
    with pytest.raises(Unavailable, match=r"needs 1048576 MiB in .*, and only \d+ MiB are free\."):
        build("tiny", lambda line: None, recipes=recipes)


@needs_root
@pytest.mark.parametrize("phase", ["resolving packages", "adding files", "computing the digest"])
def test_it_says_that_the_disk_ran_full(small_disk: Path, tiny: Path, phase: str) -> None:
    def fill(line: str) -> None:
        if phase in line:
            with suppress(OSError), (small_disk / "filling").open("wb", buffering=0) as filling:
                while filling.write(bytes(4096)):
                    pass

    with pytest.raises(BuildFailed, match=r"The disk ran full while building “tiny”; free some space"):
        build("tiny", fill, recipes=tiny)
    assert unfinished(small_disk) == []


def test_it_says_what_to_do_without_mmdebstrap(
    images: Path, recipes: Path, write_recipe: WriteRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_recipe("tiny")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match=r"apt-get install mmdebstrap|with sudo"):
        build("tiny", lambda line: None, recipes=recipes)


@needs_root
def test_it_says_that_it_needs_root() -> None:
    nobody = 65534
    os.seteuid(nobody)
    try:
        with pytest.raises(Unavailable, match="built as root; run the same command with sudo"):
            require_tools()
    finally:
        os.seteuid(0)


def test_it_names_the_command_that_builds_a_missing_image(images: Path) -> None:
    with pytest.raises(NotBuilt, match=r"run \./godhand image build desktop\."):
        store.find("desktop")
    assert store.built() == []


def test_it_lists_exact_versions(tmp_path: Path) -> None:
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(
        "Package: thing\nStatus: install ok installed\nArchitecture: all\nVersion: 1:2.3-4\n"
        "Maintainer: Nobody <nobody@localhost>\nDescription: A thing\n\n"
    )
    assert installed(tmp_path) == {"thing": "1:2.3-4"}
