"""File differences between two heads: what they delivered, and the home folders of their machines."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agents.filediff import Difference, Line, TextDifference, text_difference
from agents.filesets import Delivered, FileSet, Home, NotReadable, between
from agents.models import Branch
from agents.runner import known_to
from sandboxes.models import Machine, State
from traces.redact import Redactor

from ..access import Person, may_drive, trace_or_404
from .heads import Head, groups, pair
from .trace_answers import html

MOST_ROWS = 400
HOME_FOLDER = "home"


@dataclass(frozen=True)
class Side:
    """`machine` runs, so that its home folder can be looked into; without one, `why_not` says why."""

    head: Head
    branch: Branch | None
    machine: Machine | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Compared:
    """Two sets of files beside each other. `wanted` is the path of one to look into."""

    a: FileSet
    b: FileSet
    wanted: str

    @cached_property
    def all(self) -> list[Difference]:
        return between(self.a, self.b)

    @property
    def rows(self) -> list[Difference]:
        return [each for each in self.all if not each.hidden][:MOST_ROWS]

    @property
    def hidden(self) -> list[Difference]:
        return [each for each in self.all if each.hidden][:MOST_ROWS]

    @property
    def cut(self) -> bool:
        return len(self.all) > len(self.rows) + len(self.hidden)

    @property
    def same(self) -> int:
        return len({*self.a.files} & {*self.b.files}) - sum(each.kind == "changed" for each in self.all)

    @cached_property
    def chosen(self) -> Difference | None:
        return next((each for each in self.all if each.path == self.wanted), None)


@require_safe
def show(request: HttpRequest, trace_id: str) -> HttpResponse:
    """`a` and `b` name branches as on the page that compares steps; `in` and `file` the file to look into."""
    trace = trace_or_404(request.user, trace_id)
    a, b = pair(request.user, trace, request.GET.get("a", ""), request.GET.get("b", ""))
    context: dict[str, Any] = {
        "trace": trace,
        "groups": groups(request.user, trace, [head for head in (a, b) if head]),
        "a": a and a.spec(trace),
        "b": b and b.spec(trace),
    }
    if a and b:
        context |= beside(request, side(request.user, a), side(request.user, b))
    return html(request, "branches/merge.html", context)


def side(person: Person, head: Head) -> Side:
    row = Branch.objects.filter(run__trace=head.trace, name=head.branch).select_related("run__task", "machine").first()
    machine = row.machine if row else None
    if row is None or machine is None:
        return Side(head, row, why_not="it has no machine")
    if not may_drive(person, machine):
        return Side(head, row, why_not="its machine is for others to use")
    if machine.state != State.READY:
        return Side(head, row, why_not=f"its machine is {machine.state}")
    return Side(head, row, machine)


def beside(request: HttpRequest, a: Side, b: Side) -> dict[str, Any]:
    place, wanted = request.GET.get("in", ""), request.GET.get("file", "")
    first, second = (Delivered(each.head.trace.pk, each.head.branch) for each in (a, b))
    delivered = Compared(first, second, wanted if place != HOME_FOLDER else "")
    home = homes(a, b, wanted if place == HOME_FOLDER else "")
    found: dict[str, Any] = {"sides": (a, b), "delivered": delivered, "place": place}
    if isinstance(home, str):
        found["why_not"] = home
    else:
        found["home"] = home
    compared = next((each for each in (delivered, home) if isinstance(each, Compared) and each.chosen), None)
    if compared and compared.chosen:
        told = lines_of(compared, compared.chosen, (a, b))
        found |= {"chosen": compared.chosen, "says" if isinstance(told, str) else "text": told}
    return found


def homes(a: Side, b: Side, wanted: str) -> "Compared | str":
    """Or the sentence why there are none to compare."""
    if a.machine is None or b.machine is None:
        return f"{'; '.join(f'{each.head.branch}: {each.why_not}' for each in (a, b) if each.why_not)}."
    try:
        compared = Compared(Home(a.machine), Home(b.machine), wanted)
        return compared if compared.all is not None else ""
    except NotReadable as error:
        return str(error)


def lines_of(compared: Compared, chosen: Difference, sides: tuple[Side, Side]) -> TextDifference | str:
    """Or the sentence why it is not shown."""
    try:
        before = compared.a.read(chosen.path) if chosen.a else b""
        after = compared.b.read(chosen.path) if chosen.b else b""
    except NotReadable as error:
        return str(error)
    found = text_difference(before, after)
    if found is None:
        return "It is no text, or too much of it to be compared line by line."
    known = [known_to(each.branch) for each in sides if each.branch]
    return TextDifference([Line(line.kind, _hide(line.text, known)) for line in found.lines], found.cut)


def _hide(text: str, known: Sequence[Redactor]) -> str:
    for redactor in known:
        text = redactor.text(text)
    return text
