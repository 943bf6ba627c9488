"""What a task forbids its agent, whatever the screen says.

The machine's network is the wall: a machine that may reach nobody reaches nobody. This is the bell on the wall. It
refuses a command before it runs when it names a place that the task does not allow, so that the model is told, and
the trace says so. What is only written down or said may name any place: what a file holds, a sentence that is typed, a
summary, the name of an XML namespace.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from sandboxes.network import Policy as NetworkPolicy

from .errors import NotAllowed
from .tools.computer import TOOLSET
from .turns import Call

LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
URL = re.compile(
    r"\b(?:https?|ftps?|wss?|ssh|git|rsync|smtp)://(?:[^\s/@'\"]*@)?\[?([A-Za-z0-9_.:-]+?)\]?(?::\d+)?(?=[/\s'\"?#)]|$)"
)
REMOTE = re.compile(r"(?<![\w.-])[\w.-]+@([A-Za-z0-9.-]+\.[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}):")
END_OF_COMMAND = re.compile(r"[\n|;&]")
SENDER = re.compile(r"\b(?:nc|ncat|telnet|curl|wget|scp|sftp|ftp|ssh|rsync)\b")
SENT_TO = re.compile(
    r"\s['\"]?(?:\w+://)?(?:[^\s/@'\"]*@)?((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?=[\s:/'\"]|$)"
)
WRITTEN = re.compile(
    r"\bxmlns(?::[\w.-]+)?=(?:'[^']*'|\"[^\"]*\")"
    r"|(?:^|[;&]|\bthen\b|\bdo\b)[ \t]*(?:echo|printf)(?:[ \t]+(?:-\w+|'[^']*'|\"[^\"`$]*\"))+[ \t]*(?=$|[;>]|&&)"
    r"|\b(?:cat|tee)\b[^\n|;&<]{0,500}<<-?[ \t]*(?P<quote>['\"])(?P<end>\w+)(?P=quote)[^\n|;&]*\n"
    r"(?:.*\n)*?[ \t]*(?P=end)$",
    re.MULTILINE,
)
"""In a command: names of XML namespaces, quoted words that are echoed, quoted here-documents that cat or tee write."""

COMMANDS = ("command_succeeds", "http_ok")
"""The kinds of check that do something by themselves."""

FILE_ENDINGS = re.compile(r"csv|docx|gif|html|jpe?g|json|log|md|odt|pdf|png|pptx|py|sh|toml|txt|webp|xlsx?|xml|zip")


@dataclass(frozen=True)
class Policy:
    network: NetworkPolicy = field(default_factory=NetworkPolicy)

    def check(self, call: Call) -> None:
        """Raises NotAllowed, which names the place."""
        if self.network.mode == "open":
            return
        for host in _reached(call):
            if not self._allows(host):
                raise NotAllowed(f"The task's network is “{self.network.mode}”: it does not allow {host}.")

    def _allows(self, host: str) -> bool:
        try:
            address = IPv4Address(host)
        except AddressValueError:
            return host in LOCAL or self.network.answers(host)
        return host in LOCAL or any(entry.network and address in entry.network for entry in self.network.entries)


def _reached(call: Call) -> Iterator[str]:
    """Hosts that it may lead to."""
    if call.toolset == TOOLSET:
        text = str(call.input.get("text") or "").strip()
        yield from named_hosts(text) if len(text.split()) == 1 else _called(text)
    elif call.name == "bash":
        command = str(call.input.get("command") or "")
        yield from _called(command)
        yield from named_hosts(WRITTEN.sub(" ", command))
    elif call.name == "check" and call.input.get("kind") in COMMANDS:
        texts = list(_texts(call.input.values()))
        for text in (*texts, " ".join(texts)):
            yield from named_hosts(text)


def named_hosts(text: str) -> Iterator[str]:
    yield from _hosts(URL.finditer(text))
    yield from _called(text)


def _called(text: str) -> Iterator[str]:
    yield from _hosts(REMOTE.finditer(text))
    yield from _hosts(_sent(text))


def _sent(text: str) -> Iterator[re.Match[str]]:
    """The first place after each program that sends. One expression for both would read a long line again and again."""
    for command in END_OF_COMMAND.split(text):
        end = 0
        while (sender := SENDER.search(command, end)) and (place := SENT_TO.search(command, sender.end())):
            yield place
            end = place.end()


def _hosts(matches: Iterable[re.Match[str]]) -> Iterator[str]:
    for match in matches:
        host = match[1].lower().rstrip(".")
        if not FILE_ENDINGS.fullmatch(host.rpartition(".")[2]):
            yield host


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from _texts(value)
        elif isinstance(value, dict):
            yield from _texts(value.values())
