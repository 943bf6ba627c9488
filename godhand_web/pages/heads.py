"""Which two paths are compared: how an address names them, and what else could be picked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from django.http import Http404

from traces import queries
from traces.models import Event, Trace
from traces.outline import outline
from traces.payloads import EventId
from traces.sentences import hinted

from ..access import Person, trace_or_404, visible_traces
from .trace_branches import branch_cards

Parents = Mapping[str, str | None]

OTHERS = 50
HINT, TITLE = 60, 40


@dataclass(frozen=True)
class Head:
    """The end of a branch. Seen from another trace, its address names its own."""

    trace: Trace
    branch: str
    last: EventId

    def spec(self, seen_from: Trace) -> str:
        return self.branch if self.trace.pk == seen_from.pk else f"{self.trace.pk}:{self.branch}"


@dataclass(frozen=True)
class Option:
    spec: str
    label: str


@dataclass(frozen=True)
class Group:
    title: str
    options: list[Option]


def find(person: Person, trace: Trace, spec: str) -> Head | None:
    """A branch of the trace; or, after its id and a colon, of another: the first, where none is named.

    None for a trace without any step. Raises Http404.
    """
    known = queries.heads(trace.pk)
    if spec in known:
        return Head(trace, spec, known[spec])
    other_id, colon, branch = spec.partition(":")
    if not colon:
        raise Http404
    other = trace_or_404(person, other_id)
    theirs = queries.heads(other.pk)
    if branch and branch not in theirs:
        raise Http404
    return next((Head(other, name, last) for name, last in theirs.items() if name == (branch or name)), None)


def pair(person: Person, trace: Trace, a: str, b: str) -> tuple[Head | None, Head | None]:
    """As the address says. What it leaves open becomes the best branch, and the best beside it that is not its kin.

    Where there is none, it becomes the first branch, and the last one beside it.
    """
    if a and b:
        return find(person, trace, a), find(person, trace, b)
    begun = [Head(trace, branch, last) for branch, last in queries.heads(trace.pk).items()]
    best, parents = _best_first(trace, begun)
    one, other = ([find(person, trace, spec)] if spec else None for spec in (a, b))
    for first, second in product(one or best, other or best):
        if first and second and not _kin(first, second, parents):
            return first, second
    usual = product(one or [*begun, None], other or [*reversed(begun), None])
    return next((first, second) for first, second in usual if first is None or first != second)


def _best_first(trace: Trace, heads: list[Head]) -> tuple[list[Head], Parents]:
    shape = outline(trace)
    cards = branch_cards(trace, shape)

    def rank(head: Head) -> tuple[bool, float, int]:
        card = cards[head.branch]
        return not card.winner, -card.passed / max(1, card.checked), card.order

    known = [head for head in heads if head.branch in cards]
    return sorted(known, key=rank), {lane.branch: lane.parent for lane in shape.lanes}


def _kin(one: Head, other: Head, parents: Parents) -> bool:
    """Whether one came from the other, or is it."""
    if one.trace.pk != other.trace.pk:
        return False
    return one.branch in _line(other.branch, parents) or other.branch in _line(one.branch, parents)


def _line(branch: str | None, parents: Parents) -> Iterator[str]:
    while branch is not None:
        yield branch
        branch = parents.get(branch)


def groups(person: Person, trace: Trace, chosen: list[Head]) -> list[Group]:
    """Every branch of the traces at hand, and the newest others, attempts at the same task first."""
    at_hand = list({each.pk: each for each in (trace, *(head.trace for head in chosen))}.values())
    others = list(visible_traces(person).exclude(pk__in=[each.pk for each in at_hand])[:OTHERS])
    same = [each for each in others if each.title == trace.title]
    found = [Group("This trace" if each is trace else each.title, list(_branches(each, trace))) for each in at_hand]
    found.append(Group("Same task", [_whole(each) for each in same]))
    found.append(Group("Other traces", [_whole(each) for each in others if each not in same]))
    return [group for group in found if group.options]


def _branches(trace: Trace, seen_from: Trace) -> Iterator[Option]:
    hints = Event.objects.filter(trace=trace, kind="message", name="hint").values_list("branch", "data")
    said = {branch: hinted(str(data.get("text", "")))[:HINT] for branch, data in hints}
    of = "" if trace.pk == seen_from.pk else f" · {trace.title[:TITLE]}"
    for branch, last in queries.heads(trace.pk).items():
        hint = f": {said[branch]}" if said.get(branch) else ""
        yield Option(Head(trace, branch, last).spec(seen_from), f"{branch}{hint}{of}")


def _whole(trace: Trace) -> Option:
    return Option(f"{trace.pk}:", f"{trace.title} · {trace.created_at:%-d %b, %H:%M}")
