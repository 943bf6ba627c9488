"""What no fork undoes: what has left the machine. Each such act has a class, by which it is marked and asked for.

The machine's network decides first: one that reaches nobody can do nothing outside. Elsewhere commands are judged by
what they name, and acts on the desktop by where they go: Return in a program that talks to others, and a click on a
word that sends. A page that sends by itself is not seen; what such a task must not do belongs behind the allowlist.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandboxes.display.screen import Box, Screen
from sandboxes.errors import SandboxError

from . import ocr
from .policy import LOCAL, named_hosts
from .tools.computer import TOOLSET
from .turns import Call
from .workplace import Workplace

BEGINS = r"(?:^|[|;&(`]|\b(?:sudo|xargs)\b|\b(?:ba|da|z)?sh\s+-\w*c\s+['\"])[ \t]*"
MAIL = BEGINS + r"(?:sendmail|mailx?|mutt|msmtp|swaks)\b|\bsmtplib\b|\bsmtps?://"
UPLOAD = (
    rf"{BEGINS}(?:https?|xh)\s+(?:POST|PUT|PATCH|DELETE)\b"
    r"|\b(?:requests|httpx|session|client)\.(?:post|put|patch|delete)\("
    rf"|{BEGINS}(?:scp|sftp|rclone|l?ftp|nc|ncat|telnet)\s"
)
PUBLISH = (
    r"\bgit\s+(?:-\S+\s+(?:[^-\s]\S*\s+)??){0,9}push\b|\b(?:npm|yarn|cargo|gem)\s+publish\b|\btwine\s+upload\b"
    r"|\b(?:docker|podman)\s+push\b|\b(?:gh|glab)\s+\w+\s+(?:create|merge|close|comment|delete|edit)\b"
    r"|\baws\s+\S+\s+(?:cp|mv|rm|sync|put\S*|create\S*|delete\S*)\b|\bkubectl\s+(?:apply|create|delete|patch)\b"
)
REMOTE = BEGINS + r"(?:(?:ssh|mosh)\s+(?!-V\b)\S|ansible)"
CLASSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in (("mail", MAIL), ("publish", PUBLISH), ("upload", UPLOAD), ("remote command", REMOTE))
}
METHOD = r"['\"]?+(?!(?:GET|HEAD|OPTIONS)\b)"
UPLOADERS = tuple(
    (re.compile(rf"\b{program}\b"), re.compile(argument))
    for program, argument in (
        (
            "curl",
            rf"[\s'\"](?:-[#0-46aBfgGiIjJklLMnNOpqRsSvVZ]*(?:[dFT]|X\s*+{METHOD})"
            rf"|--(?:data|form|json|upload-file|request[\s=]\s*+{METHOD}))",
        ),
        ("wget", rf"--(?:post-\w|body-\w|method[\s=]\s*+{METHOD})"),
        ("rsync", r"\s[^\s:]+:"),
    )
)
"""Programs that fetch, and what makes them send. Short options of curl can stand in one word."""
WORDS = re.compile(
    r"(?P<ends>[\n|;&])|'[^']*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|(?<!\S)#[^\n]*+|\\.|[^\n|;&'\"\\#]++|.", re.DOTALL
)
"""What ends a command is none inside quotes, and a quote is none in a remark."""
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
        return next(filter(None, map(of_command, commands_of(call))), "")
    text, action = str(act.get("text") or ""), act.get("action")
    if action == "Type" and (found := of_command(text)):
        return found
    if (action == "Type" and "\n" in text) or (action == "Key" and RETURN.search(str(act.get("chord")))):
        return "submit" if _talks(place) else ""
    return "submit" if action == "Click" and act.get("button") == 1 and _sends(act, place, screen) else ""


def commands_of(call: Call) -> tuple[str, ...]:
    """What a tool is to run; of words in a list, also each by itself, for one may be a whole script."""
    if call.name == "bash":
        return (str(call.input.get("command") or ""),)
    if call.name != "check" or call.input.get("kind") != "command_succeeds":
        return ()
    given = call.input.get("options")
    line, words = (given.get("bash"), given.get("argv")) if isinstance(given, Mapping) else ("", ())
    argv = [str(word) for word in words] if isinstance(words, list | tuple) else []
    return tuple(filter(None, (str(line or ""), " ".join(argv), *argv)))


def of_command(text: str) -> str:
    """A part of it that names only the machine itself does nothing outside."""
    parts = [part for part in _parts(text.replace("\\\n", "")) if not _stays(part)]
    for name, pattern in CLASSES.items():
        if any(pattern.search(part) or (name == "upload" and _uploads(part)) for part in parts):
            return name
    return ""


def _parts(text: str) -> Iterator[str]:
    start = 0
    for word in WORDS.finditer(text):
        if word["ends"]:
            yield text[start : word.start()]
            start = word.end()
    yield text[start:]


def _stays(part: str) -> bool:
    hosts = set(named_hosts(part))
    return bool(hosts) and hosts <= LOCAL


def _uploads(part: str) -> bool:
    """Program and argument are looked for one after the other, so that a long line is looked through once."""
    found = ((program.search(part), argument) for program, argument in UPLOADERS)
    return any(program and argument.search(part, program.end()) for program, argument in found)


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
