"""Whom a job acts as: a user of the machine, for as long as it takes."""

# ruff: noqa: PTH116, PTH123

import os
import pwd

from .processes import PATH
from .protocol import Header, Refusal, want


def person_of(job: Header) -> pwd.struct_passwd:
    name = want(job, "user", str, "agent")
    try:
        return pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise Refusal("unknown_user", f"There is no user “{name}” in the machine.") from None


known_groups: dict[tuple[str, int, int], list[int]] = {}


def groups_of(person: pwd.struct_passwd) -> list[int]:
    """Remembered while nobody edits the group file: looking them up takes as long as the rest of a small job."""
    key = person.pw_name, person.pw_gid, os.stat("/etc/group").st_mtime_ns
    if key not in known_groups:
        known_groups.clear()
        known_groups[key] = os.getgrouplist(person.pw_name, person.pw_gid)
    return known_groups[key]


def become(person: pwd.struct_passwd) -> None:
    """Act as this person until `become_root`. The saved id stays root's here; executing a program drops it."""
    os.setgroups(groups_of(person))
    os.setresgid(person.pw_gid, person.pw_gid, 0)
    os.setresuid(person.pw_uid, person.pw_uid, 0)


def become_root() -> None:
    os.setresuid(0, 0, 0)
    os.setresgid(0, 0, 0)
    os.setgroups([])
    os.chdir("/")


def act_as(person: pwd.struct_passwd) -> None:
    become(person)
    try:
        os.chdir(person.pw_dir)
    except OSError:
        os.chdir("/")


def session_variables() -> dict[str, str]:
    """What the image says every program of its session needs, such as how to draw and where the bus is."""
    try:
        with open("/etc/environment") as file:
            return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line and not line.startswith("#"))
    except OSError:
        return {}


SESSION = session_variables()


def environment(person: pwd.struct_passwd, extra: dict[str, str]) -> dict[str, str]:
    return (
        SESSION
        | {
            "HOME": person.pw_dir,
            "USER": person.pw_name,
            "LOGNAME": person.pw_name,
            "SHELL": person.pw_shell or "/bin/sh",
            "PATH": PATH,
            "LANG": "C.UTF-8",
            "DISPLAY": ":1",
            "XDG_RUNTIME_DIR": f"/run/user/{person.pw_uid}",
        }
        | extra
    )
