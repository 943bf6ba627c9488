"""Which machines a page shows, in which order: as its address says it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from sandboxes.models import ENDED, Machine, State, Tag

TABS: dict[str, tuple[State, ...]] = {
    "running": tuple(state for state in State if state not in (*ENDED, State.STOPPED)),
    "stopped": (State.STOPPED,),
    "ended": ENDED,
}
SORTS: dict[str, tuple[str, ...]] = {
    "newest": ("-created_at",),
    "oldest": ("created_at",),
    "name": ("name", "-created_at"),
    "state": ("state", "state_since"),
    "image": ("image", "-created_at"),
    "owner": ("owner__username", "-created_at"),
    "since": ("-state_since",),
    "unused": ("last_used_at",),
}
SIZES = {"s": 48, "m": 24, "l": 12}
"""Tiles of a wall, by how many fit on a page."""

TAGS_OFFERED = 40
LONGEST = 100


@dataclass(frozen=True)
class Wanted:
    """What makes no sense is left out."""

    tab: str = "running"
    state: str = ""
    image: str = ""
    owner: str = ""
    tag: str = ""
    search: str = ""
    sort: str = "newest"
    size: str = "m"

    @classmethod
    def read(cls, query: QueryDict) -> "Wanted":
        tab, sort = query.get("tab", ""), query.get("sort", "")
        tab = tab if tab in TABS else "running"
        state = query.get("state", "")
        return cls(
            tab=tab,
            state=state if state in TABS[tab] else "",
            image=query.get("image", "")[:LONGEST],
            owner=query.get("owner", "")[:LONGEST],
            tag=query.get("tag", "").lower()[:LONGEST],
            search=query.get("q", "").strip()[:LONGEST],
            sort=sort if sort in SORTS else "newest",
            size=next((size for size in SIZES if size == query.get("size")), "m"),
        )

    @property
    def narrows(self) -> bool:
        return bool(self.state or self.image or self.owner or self.tag or self.search)

    def query(self, **changes: str) -> str:
        """The address of the same with changes; what is usual is left out."""
        said = {"tab": self.tab, "state": self.state, "image": self.image, "owner": self.owner, "tag": self.tag}
        said |= {"q": self.search, "sort": self.sort, "size": self.size, **changes}
        usual = {"tab": "running", "sort": "newest", "size": "m"}
        words = QueryDict(mutable=True)
        words.update({name: value for name, value in said.items() if value and value != usual.get(name)})
        return words.urlencode()

    @property
    def address(self) -> str:
        return self.query()

    @property
    def any_state(self) -> str:
        return self.query(state="")

    @property
    def other_view(self) -> str:
        """The same machines on the page that shows them in the other way."""
        return self.query(sort="", size="")

    @property
    def newest_first(self) -> str:
        return self.query(sort="newest")

    @property
    def oldest_first(self) -> str:
        return self.query(sort="oldest")


def chosen(machines: QuerySet[Machine], wanted: Wanted, *, state: bool = True) -> QuerySet[Machine]:
    """Those of the tab that are like that, in no order; without `state` in whatever state of the tab."""
    machines = machines.filter(state__in=[wanted.state] if wanted.state and state else TABS[wanted.tab])
    if wanted.image:
        machines = machines.filter(image=wanted.image)
    if wanted.owner:
        machines = machines.filter(owner__username=wanted.owner)
    if wanted.tag:
        machines = machines.filter(tagged(wanted.tag))
    return machines.filter(mentioning(wanted.search)) if wanted.search else machines


def tagged(name: str) -> Exists:
    return Exists(Tag.objects.filter(machine=OuterRef("pk"), name=name))


def mentioning(text: str) -> Q:
    words = Q(name__icontains=text) | Q(pk=text.lower()) | Q(image__icontains=text)
    return words | Q(owner__username__icontains=text) | Q(tagged(text.lower()))


@dataclass(frozen=True)
class Offered:
    """What the filters of a page offer: names with how many machines each would leave."""

    states: list[tuple[str, int]]
    images: list[tuple[str, int]]
    owners: list[tuple[str, int]]
    tags: list[tuple[str, int]]


def offered(visible: QuerySet[Machine], wanted: Wanted) -> Offered:
    there = visible.filter(state__in=TABS[wanted.tab]).order_by()
    states = dict(chosen(visible, wanted, state=False).order_by().values_list("state").annotate(Count("pk")))
    tags = Tag.objects.filter(Exists(there.filter(pk=OuterRef("machine")))).order_by().values_list("name")
    return Offered(
        states=[(state, states[state]) for state in TABS[wanted.tab] if states.get(state)],
        images=_named(there.values_list("image").annotate(Count("pk")), wanted.image),
        owners=_named(there.values_list("owner__username").annotate(Count("pk")), wanted.owner),
        tags=_named(tags.annotate(n=Count("pk")).order_by("-n", "name")[:TAGS_OFFERED], wanted.tag),
    )


def _named(counted: Iterable[tuple[str, int]], current: str) -> list[tuple[str, int]]:
    """The one that is chosen is offered too, also when nothing is left of it."""
    found = {current: 0} if current else {}
    return sorted((found | dict(counted)).items())
