"""What no fork undoes: what has left the machine. Each such act has a class, by which it is marked and asked for.

The machine's network decides first: one that reaches nobody can do nothing outside. Elsewhere commands are judged by
what they name, and acts on the desktop by where they go: Return in a program that talks to others, and a click on a
word that sends. A page that sends by itself is not seen; what such a task must not do belongs behind the allowlist.
"""

import re
from collections.abc import Mapping
from typing import Any

from sandboxes.display.screen import Box, Screen
from sandboxes.errors import SandboxError

from . import ocr
from .policy import LOCAL, named_hosts
from .tools.computer import TOOLSET
from .turns import Call
from .workplace import Workplace

BEGINS = r"(?:^|[|;&(`]|\bsudo\b|\bxargs\b)\s*"
MAIL = BEGINS + r"(?:sendmail|mailx?|mutt|msmtp|swaks)\b|\bsmtplib\b|\bsmtps?://"
UPLOAD = (
    r"\bcurl\b[^\n|;&]*?\s(?:-d|-F|-T|--data\S*|--form\S*|--json|--upload-file|(?:-X|--request)[ =]?"
    r"(?:POST|PUT|PATCH|DELETE))\b"
    r"|\bwget\b[^\n|;&]*?--(?:post-\w+|body-\w+|method[ =](?!GET|HEAD))"
    rf"|{BEGINS}(?:https?|xh)\s+(?:POST|PUT|PATCH|DELETE)\b"
    r"|\b(?:requests|httpx|session|client)\.(?:post|put|patch|delete)\("
    rf"|{BEGINS}(?:scp|sftp|rclone|l?ftp|nc|ncat|telnet)\s"
    r"|\brsync\b[^\n|;&]*\s\S+:"
)
PUBLISH = (
    r"\bgit\s+(?:-\S+\s+(?:[^-\s]\S*\s+)??)*push\b|\b(?:npm|yarn|cargo|gem)\s+publish\b|\btwine\s+upload\b"
    r"|\b(?:docker|podman)\s+push\b|\b(?:gh|glab)\s+\w+\s+(?:create|merge|close|comment|delete|edit)\b"
    r"|\baws\s+\S+\s+(?:cp|mv|rm|sync|put\S*|create\S*|delete\S*)\b|\bkubectl\s+(?:apply|create|delete|patch)\b"
)
REMOTE = BEGINS + r"(?:(?:ssh|mosh)\s+(?!-V\b)\S|ansible)"
CLASSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in (("mail", MAIL), ("publish", PUBLISH), ("upload", UPLOAD), ("remote command", REMOTE))
}
SENDING = re.compile(
    r"(?:send|submit|pay|buy|order|book|reserve|post|publish|upload|share|reply|tweet|transfer|checkout|confirm"
    r"|sign up|subscribe|delete|remove|merge|deploy|place order|commit)\b",
    re.IGNORECASE,
)
RETURN = re.compile(r"(?:^|\+)(?:Return|Enter|KP_Enter|ISO_Enter)$", re.IGNORECASE)
TALKERS = re.compile(r"chrom|firefox|epiphany|browser|thunderbird|evolution|claws|mail|slack|element", re.IGNORECASE)
IN_FRONT = 'xprop -id "$(xdotool getactivewindow)" WM_CLASS'
NEAR = Box(90, 16, 180, 32)
"""The room around a click that is read: x and y are how far it lies left and above."""


def effect_of(call: Call, act: Mapping[str, Any], place: Workplace, screen: Screen) -> str:
    """The class of what it does outside, mostly nothing. `act` is what will be done, in pixels."""
    if place.policy.network.mode == "off":
        return ""
    if call.toolset != TOOLSET:
        return of_command(str(call.input.get("command", ""))) if call.name == "bash" else ""
    text, action = str(act.get("text") or ""), act.get("action")
    if action == "Type" and (found := of_command(text)):
        return found
    if (action == "Type" and "\n" in text) or (action == "Key" and RETURN.search(str(act.get("chord")))):
        return "submit" if _talks(place) else ""
    return "submit" if action == "Click" and act.get("button") == 1 and _sends(act, place, screen) else ""


def of_command(text: str) -> str:
    """One that names only the machine itself does nothing outside."""
    hosts = set(named_hosts(text))
    if hosts and hosts <= LOCAL:
        return ""
    return next((name for name, pattern in CLASSES.items() if pattern.search(text)), "")


def _sends(act: Mapping[str, Any], place: Workplace, screen: Screen) -> bool:
    """Read from the screen; where it cannot be read, a click in such a program is taken to send."""
    x, y = act.get("x"), act.get("y")
    if not _talks(place):
        return False
    if x is None or y is None:
        return True
    width, height = screen.size
    left, top = max(0, min(x - NEAR.x, width - NEAR.width)), max(0, min(y - NEAR.y, height - NEAR.height))
    try:
        lines = ocr.read(screen, Box(left, top, min(NEAR.width, width), min(NEAR.height, height)))
    except (SandboxError, ValueError):
        return True
    return any(SENDING.match(line.text.strip()) for line in lines)


def _talks(place: Workplace) -> bool:
    """Whether the window in front belongs to a browser or another program that sends; so it is if nobody can say."""
    try:
        seen = place.sandbox.exec(["sh", "-c", IN_FRONT], timeout=5)
    except SandboxError:
        return True
    return bool(seen.returncode) or bool(TALKERS.search(seen.stdout.decode(errors="replace")))
