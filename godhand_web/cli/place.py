"""The data directory, who owns what in it, and how a service is started as whom."""

import grp
import os
import pwd
import secrets
import subprocess
import sys
from collections.abc import Callable, Sequence
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
    try:
        _lay_out()
    except OSError as error:
        sys.exit(
            f"GODHAND_HOME is {here().home}, and {error.filename or 'it'} cannot be used ({error.strerror}): "
            "set it to a directory of your own, with room in it."
        )


def _lay_out() -> None:
    host = here()
    host.home.mkdir(parents=True, exist_ok=True)
    _refuse_anothers(host.own)
    if is_root():
        _ensure_service_user()
        _refuse_unreachable(
            "GODHAND_HOME", host.home, "choose a directory that others may pass through, such as one under /var/lib"
        )
        _refuse_unreachable(
            "The Python of GodHand",
            Path(sys.executable).resolve(),
            "set GODHAND_PYTHON to one that all may run, such as /usr/bin/python3",
        )
        Path(APP_MOUNT).mkdir(parents=True, exist_ok=True)
    # Root opens files by name in these, where a service could lay links.
    for directory in (host.own, host.logs):
        directory.mkdir(exist_ok=True)
        directory.chmod(0o700)
        os.chown(directory, os.geteuid(), os.getegid())
    for name in ("db", "run", "redis", "screenshots", "blobs", "references", "thumbs", "exports"):
        directory = host.home / name
        directory.mkdir(exist_ok=True)
        _give(directory, 0o750)
    host.machines.mkdir(mode=0o700, exist_ok=True)
    _secret_key(host.home / "secret_key")


def _secret_key(path: Path) -> None:
    """Whole or not there. Those who come first at once agree on the one that is there in the end."""
    if not path.exists() or not path.stat().st_size:
        new = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.fsync(file.fileno())
            new.rename(path)
        finally:
            new.unlink(missing_ok=True)
    _give(path, 0o400)


def _give(path: Path, mode: int) -> None:
    path.chmod(mode)
    if is_root():
        os.chown(path, pwd.getpwnam(SERVICE_USER).pw_uid, grp.getgrnam(SERVICE_USER).gr_gid)


def _ensure_service_user() -> None:
    if _is_there(pwd.getpwnam):
        return
    group = ["--gid", SERVICE_USER] if _is_there(grp.getgrnam) else ["--user-group"]
    argv = ["useradd", "--system", *group, "--no-create-home", "--shell", "/usr/sbin/nologin", SERVICE_USER]
    made = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    # Another first command may have made it meanwhile.
    if made.returncode and not _is_there(pwd.getpwnam):
        sys.exit(f"The user “{SERVICE_USER}”, as whom services run, cannot be made: {made.stderr.strip()}")


def _is_there(look_up: Callable[[str], object]) -> bool:
    try:
        look_up(SERVICE_USER)
    except KeyError:
        return False
    return True


def _refuse_anothers(own: Path) -> None:
    """Before anything in it changes hands: theirs may run."""
    if own.is_dir() and own.stat().st_uid != os.geteuid():
        try:
            owner = pwd.getpwuid(own.stat().st_uid).pw_name
        except KeyError:
            owner = f"user {own.stat().st_uid}"
        sys.exit(f"GODHAND_HOME is {here().home}, which {owner} uses: run this as {owner}, or set another directory.")


def _refuse_unreachable(what: str, path: Path, fix: str) -> None:
    as_user = ["setpriv", "--reuid", SERVICE_USER, "--regid", SERVICE_USER, "--clear-groups"]
    if subprocess.run([*as_user, "test", "-x", str(path)], check=False).returncode:
        sys.exit(f"{what} is {path}, which the user “{SERVICE_USER}” cannot enter or run: {fix}.")


def refuse_closed(directory: Path, command: str) -> None:
    """Who may not look would be told that nothing is there."""
    try:
        os.scandir(directory).close()
    except PermissionError:
        sys.exit(f"You may not look into {directory}: run ./godhand {command} as root, or as whoever started GodHand.")
    except OSError:
        pass


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
        last = (result.stderr.splitlines() or [""])[-1]
        if last.startswith("CommandError: "):
            sys.exit(last.removeprefix("CommandError: "))
        tail = "\n".join((result.stdout + result.stderr).splitlines()[-6:])
        sys.exit(f"“manage {arguments[0]}” failed:\n{tail}")
    return result.stdout
