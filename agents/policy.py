"""What a task forbids its agent, whatever the screen says.

The machine's network is the wall: a machine that may reach nobody reaches nobody. This is the bell on the wall. It
refuses a command before it runs when it names a place that the task does not allow, so that the model is told, and
the trace says so.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from sandboxes.network import Policy as NetworkPolicy

from .errors import NotAllowed
from .turns import Call

LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
URL = re.compile(
    r"\b(?:https?|ftps?|wss?|ssh|git|rsync|smtp)://(?:[^\s/@'\"]*@)?\[?([A-Za-z0-9_.:-]+?)\]?(?::\d+)?(?=[/\s'\"?#)]|$)"
)
REMOTE = re.compile(r"\b[\w.-]+@([A-Za-z0-9.-]+\.[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}):")
SENDERS = re.compile(
    r"\b(?:nc|ncat|telnet|curl|wget|scp|sftp|ftp|ssh|rsync)\b[^\n|;&]*?\s(?:\w+@)?((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?=[\s:/]|$)"
)
FILE_ENDINGS = re.compile(r"csv|docx|gif|html|jpe?g|json|log|md|odt|pdf|png|pptx|py|sh|toml|txt|webp|xlsx?|xml|zip")


@dataclass(frozen=True)
class Policy:
    network: NetworkPolicy = field(default_factory=NetworkPolicy)

    def check(self, call: Call) -> None:
        """Raises NotAllowed, which names the place."""
        if self.network.mode == "open":
            return
        texts = list(_texts(call.input.values()))
        for text in (*texts, " ".join(texts)):
            for host in named_hosts(text):
                if not self._allows(host):
                    raise NotAllowed(f"The task's network is “{self.network.mode}”: it does not allow {host}.")

    def _allows(self, host: str) -> bool:
        try:
            address = IPv4Address(host)
        except AddressValueError:
            return host in LOCAL or self.network.answers(host)
        return host in LOCAL or any(entry.network and address in entry.network for entry in self.network.entries)


def named_hosts(text: str) -> Iterator[str]:
    for pattern in (URL, REMOTE, SENDERS):
        for match in pattern.finditer(text):
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
