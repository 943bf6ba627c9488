"""The data directory, who owns what in it, and how a service is started as whom."""

import grp
import os
import pwd
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sandboxes.host import here
from sandboxes.network import SERVICE_USER

ROOT = Path(__file__).resolve().parents[2]
APP_MOUNT = "/run/godhand/app"

# The checkout may lie where only root can look, such as /root: a private mount namespace shows it elsewhere.
UNPRIVILEGED_START = (
    'root=$1 app=$2 user=$3 rights=$4; shift 4; mount --bind "$root" "$app" && cd "$app" && PYTHONPATH=$app '
    "exec setpriv --reuid $user --regid $user --init-groups --no-new-privs --bounding-set=$rights "
    '--inh-caps=$rights --ambient-caps=$rights --pdeathsig TERM "$@"'
)


def is_root() -> bool:
    return os.geteuid() == 0


def prepare() -> None:
    """Make the data directory and hand the unprivileged services their parts of it."""
    host = here()
    host.home.mkdir(parents=True, exist_ok=True)
    if is_root():
        _ensure_service_user()
        _refuse_unreachable(host.home)
        Path(APP_MOUNT).mkdir(parents=True, exist_ok=True)
    for name in ("db", "run", "logs", "redis", "screenshots", "blobs", "references", "thumbs", "exports"):
        directory = host.home / name
        directory.mkdir(exist_ok=True)
        _give(directory, 0o750)
    host.machines.mkdir(mode=0o700, exist_ok=True)
    _secret_key(host.home / "secret_key")


def _secret_key(path: Path) -> None:
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
    _give(path, 0o400)


def _give(path: Path, mode: int) -> None:
    path.chmod(mode)
    if is_root():
        os.chown(path, pwd.getpwnam(SERVICE_USER).pw_uid, grp.getgrnam(SERVICE_USER).gr_gid)


def _ensure_service_user() -> None:
    try:
        pwd.getpwnam(SERVICE_USER)
    except KeyError:
        subprocess.run(
            ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVICE_USER],
            check=True,
        )


def _refuse_unreachable(home: Path) -> None:
    probe = subprocess.run(
        [
            "setpriv",
            "--reuid",
            SERVICE_USER,
            "--regid",
            SERVICE_USER,
            "--clear-groups",
            "test",
            "-x",
            str(home),
        ],
        check=False,
    )
    if probe.returncode:
        sys.exit(
            f"GODHAND_HOME is {home}, which the user “{SERVICE_USER}” cannot enter: "
            "choose a directory that others may pass through, such as one under /var/lib."
        )


def as_service(argv: Sequence[str], *, keep: Sequence[str] = ()) -> list[str]:
    """The command that runs `argv` from the checkout without privileges, but for the capabilities to keep."""
    if not is_root():
        return list(argv)
    wrapper = ["unshare", "--mount", "--propagation", "slave", "sh", "-c", UNPRIVILEGED_START, "sh"]
    rights = ",".join(["-all", *(f"+{name}" for name in keep)])
    return [*wrapper, str(ROOT), APP_MOUNT, SERVICE_USER, rights, *argv]


def as_root(argv: Sequence[str]) -> list[str]:
    """The command that keeps our privileges and dies with us."""
    return ["setpriv", "--pdeathsig", "TERM", *argv]


def python(*arguments: str) -> list[str]:
    """The virtual environment's Python, by a path that also holds inside the private mount."""
    return [".venv/bin/python", *arguments]


def manage(*arguments: str, service: bool = True) -> str:
    """Run a Django command to its end; its output, or our end with its last words."""
    argv = python("manage.py", *arguments)
    result = subprocess.run(
        as_service(argv) if service else argv,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        tail = "\n".join((result.stdout + result.stderr).splitlines()[-6:])
        sys.exit(f"“manage {arguments[0]}” failed:\n{tail}")
    return result.stdout
