"""How a run ended, as three facts: that it ended, what the agent claimed, and what the checks found."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.models import Branch
from traces.events import Kind
from traces.models import Event

TONES = {
    "passed": ("circle-check", "pass"),
    "failed": ("circle-x", "fail"),
    "errored": ("circle-question-mark", "wait"),
    "open": ("circle-dashed", "infra"),
}
WORDS = {"passed": "Passed", "failed": "Failed", "errored": "Could not be checked", "open": "Not looked at"}


@dataclass(frozen=True)
class Checked:
    """`outcome` is open for a check that nobody has looked at yet."""

    name: str
    kind: str
    outcome: str
    expected: str = ""
    actual: str = ""
    detail: str = ""

    @property
    def icon(self) -> str:
        return TONES[self.outcome][0]

    @property
    def tone(self) -> str:
        return TONES[self.outcome][1]

    @property
    def word(self) -> str:
        return WORDS[self.outcome]


@dataclass(frozen=True)
class Outcome:
    claim: str
    detail: str
    checks: list[Checked]
    checked_at: datetime | None

    @property
    def passed(self) -> int:
        return sum(check.outcome == "passed" for check in self.checks)

    @property
    def tone(self) -> str:
        """Of all checks together."""
        found = {check.outcome for check in self.checks}
        return "fail" if "failed" in found else "wait" if "errored" in found else "pass" if found == {"passed"} else ""


def outcome(branch: Branch) -> Outcome:
    looked = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, kind=Kind.VERIFY)
    last = looked.order_by("-seq").first()
    findings: dict[str, Any] = {}
    for event in looked.order_by("seq").only("data"):
        findings |= {finding["name"]: finding for finding in event.data["findings"]}
    checks = [_checked(check, findings.get(check["name"])) for check in branch.run.task.checks]
    return Outcome(branch.claim, branch.detail, checks, last.ended_at if last else None)


def _checked(check: Mapping[str, Any], found: Mapping[str, Any] | None) -> Checked:
    if found is None:
        return Checked(check["name"], check["kind"], "open")
    shown = {name: str(found.get(name) or "") for name in ("expected", "actual", "detail")}
    outcome = found["outcome"] if found["outcome"] in TONES else "open"
    return Checked(check["name"], check["kind"], outcome, **shown)
