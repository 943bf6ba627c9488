"""Machines as many are shown at once: each with the picture of now, and what is being done there."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.models import ENDED as RUN_ENDED
from agents.models import Branch
from agents.models import State as RunState
from sandboxes import lease, thumbnails
from sandboxes.models import Lease, Machine, State

from ..access import Person, visible_runs
from ..models import User
from .run_cards import Card, cards, with_last_events


@dataclass(frozen=True)
class Tile:
    """`thumbnail` names the picture of now; `card` tells what is being done there, `driver` is a person."""

    machine: Machine
    thumbnail: str = ""
    card: Card | None = None
    driver: str = ""

    @property
    def needs_help(self) -> bool:
        return self.card is not None and self.card.branch.state == RunState.NEEDS_HELP


def tiles(person: Person, machines: Sequence[Machine]) -> list[Tile]:
    pictures, drivers = pictures_of(machines), drivers_of(machines)
    done = cards_on(person, [machine.pk for machine in machines])
    return [Tile(each, pictures.get(each.pk, ""), done.get(each.pk), drivers.get(each.pk, "")) for each in machines]


def pictures_of(machines: Sequence[Machine]) -> dict[str, str]:
    """The name of each one's newest; asking keeps them coming."""
    return thumbnails.watch([machine.pk for machine in machines if machine.state == State.READY])


def cards_on(person: Person, ids: Sequence[str], *, ended: bool = False) -> dict[str | None, Card]:
    """What is being done on each of these machines, or was, as far as the person may know."""
    found = Branch.objects.filter(run__in=visible_runs(person), machine__in=ids)
    wanted = found if ended else found.exclude(state__in=RUN_ENDED)
    return {card.branch.machine_id: card for card in cards(person, with_last_events(wanted).order_by("created_at"))}


def drivers_of(machines: Sequence[Machine]) -> dict[str, str]:
    leases = Lease.objects.filter(machine__in=[each.pk for each in machines], holder__startswith="user:")
    held = {each.machine_id: lease.person_id(each.holder) for each in leases}
    names = User.objects.in_bulk([number for number in held.values() if number])
    return {machine: names[number].get_username() for machine, number in held.items() if number in names}
