"""An HTTP answer, asked for from inside the machine."""

from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from sandboxes.guest.client import MIB

from ..errors import BadTask
from .base import CannotCheck, Checker, Finding, shown
from .options import Between, Length, Seconds
from .scene import Scene

MARGIN = 10
MISSING = 127
TOO_LARGE = 63


@dataclass(frozen=True)
class HttpOk(Checker):
    """A URL, seen from inside the machine, answers in time with the status and a body that contains the text."""

    kind: ClassVar[str] = "http_ok"

    url: Annotated[str, Length(1, 2_000)]
    status: Annotated[int, Between(100, 599)] = 200
    body: str = ""
    timeout: Seconds = 10.0

    def validate(self) -> None:
        try:
            parts = urlsplit(self.url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc or not self.url.isprintable():
            raise BadTask("url: must be a whole URL such as http://localhost:8000/.")

    def expectation(self) -> str:
        body = f" and a body with “{shown(self.body)}”" if self.body else ""
        return f"{shown(self.url)} answers within {self.timeout:g} s with status {self.status}{body}."

    def look(self, scene: Scene) -> Finding:
        with scene.guest() as guest:
            result = guest.exec(self._argv(), timeout=self.timeout + MARGIN, output_limit=2 * MIB)
        if result.returncode in (MISSING, TOO_LARGE):
            raise CannotCheck("The machine has no curl." if result.returncode == MISSING else "The body is too large.")
        told = shown(result.stderr.decode(errors="replace"))
        if result.returncode:
            return self.found(False, f"No answer ({told.partition(' ')[2] or result.returncode}).")
        body = result.stdout.decode(errors="replace")
        good = told.strip() == str(self.status) and self.body in body
        return self.found(good, f"Status {told.strip()} and a body that begins “{shown(body[:300])}”.")

    def _argv(self) -> list[str]:
        """The first argument keeps curl from reading a file of settings."""
        limits = ["--max-time", f"{self.timeout:g}", "--max-filesize", str(MIB), "--proto", "=http,https", "--globoff"]
        told = ["--silent", "--write-out", "%{stderr}%{http_code} %{errormsg}"]
        return ["curl", "--disable", *told, *limits, "--url", self.url]
