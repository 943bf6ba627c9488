"""A local service that speaks as Anthropic and OpenAI do, plays a script, and refuses what they refuse."""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from .chat import ChatApi
from .messages import MessagesApi
from .refusal import Refusal
from .responses import ResponsesApi

KEY = "sk-wire-0123456789-planted"

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """As it came; header names in lower case."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Json


@dataclass(frozen=True)
class Status:
    """An answer other than 200."""

    code: int
    retry_after: str = ""
    message: str = "Please try again later."
    kind: str = "an_error"


@dataclass(frozen=True)
class Hang:
    """No answer until the server closes."""


@dataclass(frozen=True)
class Truncated:
    """Half of the JSON, and a header that finds that right."""


@dataclass(frozen=True)
class Cut:
    """The connection ends in the middle of the answer."""


Answer = Json | Callable[[Request], Json | Status] | Status | Hang | Truncated | Cut


class Api(Protocol):
    def key_of(self, headers: Mapping[str, str]) -> str: ...

    def check(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        """Raises Refusal."""

    def remember(self, body: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """What was given, to know it again."""


class WireServer:
    """`will` queues answers; every valid request takes the next. `refusals` has the reasons of all 400s."""

    def __init__(self, key: str = KEY) -> None:
        self.key = key
        self.requests: list[Request] = []
        self.refusals: list[str] = []
        self.closing = threading.Event()
        self._answers: deque[Answer] = deque()
        self._apis: dict[str, Api] = {
            "/v1/messages": MessagesApi(),
            "/v1/responses": ResponsesApi(),
            "/v1/chat/completions": ChatApi(),
        }
        handler = type("WireHandler", (_Handler,), {"wire": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def openai_url(self) -> str:
        """Of the Responses API and of chat completions."""
        return f"{self.anthropic_url}/v1"

    def will(self, *answers: Answer) -> None:
        self._answers.extend(answers)

    @property
    def last(self) -> Json:
        """The body of the latest request."""
        return self.requests[-1].body

    def answer(self, request: Request) -> Json | Status | Hang | Truncated | Cut:
        """Raises Refusal."""
        self.requests.append(request)
        api = self._apis.get(request.path)
        if api is None:
            raise Refusal(f"There is nothing at {request.path}", 404)
        if api.key_of(request.headers) != self.key:
            raise Refusal(f"Incorrect API key provided: {api.key_of(request.headers)}", 401)
        api.check(request.headers, request.body)
        if not self._answers:
            raise Refusal("The script has no more answers", 500)
        answer = self._answers.popleft()
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, dict):
            answer = {**answer, "model": request.body["model"]}
            api.remember(request.body, answer)
        return answer


class _Handler(BaseHTTPRequestHandler):
    wire: WireServer

    def do_POST(self) -> None:
        try:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = self.wire.answer(Request(urlsplit(self.path).path, headers, body))
        except Refusal as refusal:
            self.wire.refusals.append(str(refusal))
            answer = Status(refusal.status, message=str(refusal), kind="invalid_request_error")
        self._give(answer)

    def _give(self, answer: Json | Status | Hang | Truncated | Cut) -> None:
        whole = b'{"id": "half of it was lost"}'
        match answer:
            case Hang():
                self.wire.closing.wait()
            case Truncated():
                self._send(200, whole[:15])
            case Cut():
                self._send(200, whole[:15], announced=len(whole))
            case Status(code, retry_after, message, kind):
                error = {"type": kind, "message": message, "code": kind, "param": None}
                body = json.dumps({"type": "error", "error": error}).encode()
                self._send(code, body, {"retry-after": retry_after} if retry_after else {})
            case dict():
                self._send(200, json.dumps(answer).encode())

    def _send(self, code: int, body: bytes, headers: Mapping[str, str] = {}, announced: int | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if announced is None else announced))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
