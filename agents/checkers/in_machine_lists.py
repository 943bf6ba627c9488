"""Runs inside the machine: which processes and which windows there are.

Standard library only. Reads a request as JSON, prints an answer as JSON: `unable` says why the question cannot be
answered.
"""

# ruff: noqa: PTH123, PTH208

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

MOST = 2_000
LONGEST = 2_000


def main() -> None:
    lists = {"processes": processes, "windows": windows}
    try:
        answer: dict[str, Any] = {"items": list(lists[json.load(sys.stdin)["list"]]())}
    except (OSError, subprocess.SubprocessError) as error:
        answer = {"unable": f"The machine cannot tell ({error})."}
    print(json.dumps(answer))


def processes() -> Iterator[dict[str, Any]]:
    pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())
    for pid in pids[:MOST]:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                name, _, rest = file.read().partition(b"(")[2].rpartition(b") ")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                argv = file.read(LONGEST).rstrip(b"\0").split(b"\0")
        except OSError:
            continue
        if not rest.startswith(b"Z"):
            yield {"pid": pid, "name": text(name), "argv": [text(part) for part in argv]}


def windows() -> Iterator[dict[str, Any]]:
    listed = xprop("-root", "_NET_CLIENT_LIST")
    for window in re.findall(r"0x[0-9a-f]+", listed.get("_NET_CLIENT_LIST", ""))[:MOST]:
        try:
            facts = xprop("-id", window, "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_WINDOW_TYPE")
        except subprocess.CalledProcessError:
            continue
        if not re.search("_DOCK|_DESKTOP", facts.get("_NET_WM_WINDOW_TYPE", "")):
            title = facts.get("_NET_WM_NAME") or facts.get("WM_NAME", "")
            yield {"title": unquoted(title), "class": unquoted(facts.get("WM_CLASS", "")).split('", "')}


def xprop(*arguments: str) -> dict[str, str]:
    """Properties that are set, by name, as they are printed. Raises CalledProcessError for a window that has gone."""
    argv = ["xprop", "-notype", *arguments]
    run = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=True)
    pairs = re.findall(r"^(\w+)(?: = |: window id # )(.*)$", text(run.stdout), re.MULTILINE)
    return dict(reversed(pairs))


def unquoted(printed: str) -> str:
    return printed.removeprefix('"').removesuffix('"')[:LONGEST]


def text(data: bytes) -> str:
    return data.decode(errors="replace")


if __name__ == "__main__":
    main()
