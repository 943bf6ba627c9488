"""Turns a bare root filesystem into the recipe's: user, files, Python packages, setup script, guest."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..errors import BuildFailed
from .bootstrap import CONTAINED, failure, run
from .recipe import GUEST, GUEST_FILES, Recipe, User

_GUEST_HOME = "opt/godhand"


def furnish(recipe: Recipe, root: Path, log: Path) -> None:
    """Raises BuildFailed."""
    for mount_point in ("dev", "proc", "run", "sys", "tmp"):
        (root / mount_point).mkdir(exist_ok=True)
    _forget_the_builder(recipe, root)
    add_user(recipe.user, root)
    for overlay in recipe.overlays:
        lay_over(overlay, root)
    _write(root, "etc/environment", "".join(f"{key}={value}\n" for key, value in recipe.env.items()))
    if recipe.python:
        _install_python(recipe, root, log)
    _install_guest(recipe, root, log)
    for script in recipe.setups:
        _run_setup(recipe, script, root, log)
    _own(root / recipe.user.home.lstrip("/"), recipe.user.uid)
    shutil.rmtree(root / "var/log/apt", ignore_errors=True)


def add_user(user: User, root: Path) -> None:
    home = root / user.home.lstrip("/")
    home.parent.mkdir(exist_ok=True)
    skeleton = root / "etc/skel"
    if skeleton.is_dir():
        shutil.copytree(skeleton, home, symlinks=True)
    for folder in ("", *user.folders):
        (home / folder).mkdir(parents=True, exist_ok=True)
    shell = "/bin/bash" if (root / "bin/bash").exists() else "/bin/sh"
    _append(root, "etc/passwd", f"{user.name}:x:{user.uid}:{user.uid}:{user.name}:{user.home}:{shell}\n")
    _append(root, "etc/group", f"{user.name}:x:{user.uid}:\n")
    _append(root, "etc/shadow", f"{user.name}:*:20000:0:99999:7:::\n", mode=0o640)
    if user.sudo:
        _write(root, f"etc/sudoers.d/{user.name}", f"{user.name} ALL=(ALL:ALL) NOPASSWD: ALL\n", mode=0o440)


def lay_over(overlay: Path, root: Path) -> None:
    """Copy a tree as root's own. Git keeps no modes but “executable”, so no others are made up."""
    for source in sorted(overlay.rglob("*")):
        target = root / source.relative_to(overlay)
        _refuse_to_leave(root, target.parent)
        if source.is_dir() and not source.is_symlink():
            target.mkdir(exist_ok=True)
            continue
        target.unlink(missing_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        else:
            shutil.copyfile(source, target)
            target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def _refuse_to_leave(root: Path, directory: Path) -> None:
    """An absolute link inside the tree would lead a careless write onto the host."""
    if not directory.resolve().is_relative_to(root.resolve()):
        raise BuildFailed(f"{directory.relative_to(root)} leads out of the image; a recipe cannot write there.")


def _forget_the_builder(recipe: Recipe, root: Path) -> None:
    """mmdebstrap copies the host's name and name servers into the tree."""
    _write(root, "etc/hostname", f"{recipe.name}\n")
    _write(root, "etc/hosts", f"127.0.0.1 localhost {recipe.name}\n::1 localhost\n")
    _write(root, "etc/resolv.conf", "")


def _install_python(recipe: Recipe, root: Path, log: Path) -> None:
    """Without dependencies and without building: a recipe names those as system packages."""
    version = next((path.name for path in sorted((root / "usr/lib").glob("python3.*"))), None)
    if version is None:
        raise BuildFailed(f"The recipe “{recipe.name}” names Python packages, but does not install python3.")
    target = root / f"usr/local/lib/{version}/dist-packages"
    target.mkdir(parents=True, exist_ok=True)
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
        "--python-version",
        version.removeprefix("python"),
    ]
    argv = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--root-user-action=ignore",
        *options,
        "--target",
        str(target),
    ]
    if run([*CONTAINED, *argv, *recipe.python], log, lambda line: None):
        raise failure(recipe, log, "pip")


def _install_guest(recipe: Recipe, root: Path, log: Path) -> None:
    for name, place in GUEST_FILES.items():
        source = GUEST / name
        mode = 0o755 if source.stat().st_mode & 0o100 else 0o644
        _write(root, f"{_GUEST_HOME}/{place}", source.read_text(), mode)
    if (root / "usr/bin/python3").exists():
        _compile_guest(recipe, root, log)
    starts = [start.as_json(recipe.env) for start in recipe.starts]
    _write(root, f"{_GUEST_HOME}/start.json", json.dumps(starts, indent=2) + "\n")
    (root / "var/log/godhand").mkdir(parents=True, exist_ok=True)


def _compile_guest(recipe: Recipe, root: Path, log: Path) -> None:
    """Or every machine would, at every start. By content, not by time: the same recipe shall give the same tree."""
    by_content = ["--invalidation-mode", "unchecked-hash"]
    if _run_inside(root, ["python3", "-IS", "-m", "compileall", "-q", *by_content, f"/{_GUEST_HOME}/guest"], log):
        raise failure(recipe, log, "compileall")


def _run_setup(recipe: Recipe, script: Path, root: Path, log: Path) -> None:
    inside = root / "tmp/setup.sh"
    shutil.copyfile(script, inside)
    try:
        if _run_inside(root, ["sh", "-eu", "/tmp/setup.sh"], log):
            raise failure(recipe, log, f"{script.parent.name}/setup.sh")
    finally:
        inside.unlink()


def _run_inside(root: Path, argv: list[str], log: Path) -> int:
    """Inside the tree, without network, in a process tree that dies with the builder."""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    return run([*CONTAINED, "--net", f"--root={root}", *argv], log, lambda line: None, env)


def _write(root: Path, place: str, text: str, mode: int = 0o644) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    _refuse_to_leave(root, path.parent)
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(mode)


def _append(root: Path, place: str, line: str, mode: int = 0o644) -> None:
    path = root / place
    if not path.exists():
        _write(root, place, "", mode)
    with path.open("a") as file:
        file.write(line)


def _own(home: Path, uid: int) -> None:
    for directory, _, files in os.walk(home):
        for path in (directory, *(os.path.join(directory, file) for file in files)):  # noqa: PTH118
            os.chown(path, uid, uid, follow_symlinks=False)


def installed(root: Path) -> dict[str, str]:
    """Exact versions of all Debian packages in the tree."""
    argv = [
        "dpkg-query",
        f"--admindir={root}/var/lib/dpkg",
        "--show",
        "--showformat=${Package} ${Version}\\n",
    ]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ", 1) for line in shown.splitlines())
