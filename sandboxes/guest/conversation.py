"""One host's talk with one guest: who asks, who asks again, and what a refusal is here."""

import errno
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NoReturn, Self

from ..errors import Gone, OutputLimit, Refused
from ..fence import Guard
from ..lifeline import NO_LIFELINE, Lifeline
from .connection import Connection, Dropped, Header, readable

FILE_ERRORS: dict[str, tuple[type[OSError], int, str]] = {
    "not_found": (FileNotFoundError, errno.ENOENT, "No such file or directory"),
    "is_directory": (IsADirectoryError, errno.EISDIR, "Is a directory"),
    "not_directory": (NotADirectoryError, errno.ENOTDIR, "Not a directory"),
    "permission": (PermissionError, errno.EACCES, "Permission denied"),
}


class Conversation:
    """`lifeline` gives each connection one of its own."""

    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        *,
        connect_timeout: float = 5,
        lifeline: Callable[[], Lifeline] = lambda: NO_LIFELINE,
        guard: Guard = nullcontext,
    ) -> None:
        self._address, self._token, self._connect_timeout = (host, port), token, connect_timeout
        self._lifeline, self._guard = lifeline, guard
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _connect(self, *, connect_timeout: float, hello_timeout: float) -> Connection:
        if self._connection and self._connection.is_stale():
            self.close()
        if not self._connection:
            self._connection = Connection(
                *self._address,
                self._token,
                connect_timeout=connect_timeout,
                hello_timeout=hello_timeout,
                lifeline=self._lifeline(),
                guard=self._guard,
            )
        return self._connection

    def _connected(self) -> Connection:
        return self._connect(connect_timeout=self._connect_timeout, hello_timeout=self._connect_timeout)

    def _ask(
        self,
        request: Header,
        body: bytes = b"",
        timeout: float = 60,
        limits: Sequence[int] = (),
        *,
        repeat: bool = True,
        path: str | None = None,
    ) -> tuple[Header, list[bytes]]:
        request = request | {"body": len(body)}
        connection = self._connected()
        try:
            answer, parts = connection.request(request, body, timeout, limits)
        except Dropped:
            if not repeat:
                raise
            again = self._connected()
            if again.instance != connection.instance and "op_id" in request:
                raise Gone("The machine's guest started anew; what was asked may or may not have been done.") from None
            answer, parts = again.request(request, body, timeout, limits)
        if answer.get("ok") is not True:
            raise_refusal(answer, path)
        return answer, parts


def given(**fields: object) -> Header:
    return {name: value for name, value in fields.items() if value is not None}


def raise_refusal(answer: Header, path: str | None) -> NoReturn:
    kind, message = answer.get("error"), readable(answer.get("message"))
    if isinstance(kind, str) and kind in FILE_ERRORS:
        error, number, text = FILE_ERRORS[kind]
        raise error(number, text, path or message.removeprefix(f"{text}: "))
    if kind == "limit":
        raise OutputLimit(message if path is None else f"{path}: {message}")
    raise Refused(f"The machine refused: {message}")
