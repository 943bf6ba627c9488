"""Words that machines are filed under."""

from collections.abc import Iterable

from . import lifecycle
from .errors import Refused
from .models import Machine, Tag

LONGEST = 40
MOST = 20


def words(text: str) -> list[str]:
    """Separated by commas or spaces, in small letters, each once. Raises Refused for what cannot be one."""
    found = list(dict.fromkeys(text.lower().replace(",", " ").split()))
    for word in found:
        if len(word) > LONGEST:
            raise Refused(f"A tag has at most {LONGEST} characters; “{word[:LONGEST]}…” has {len(word)}.")
        if not word.isprintable():
            raise Refused("A tag has letters, numbers and signs only; there is a character that cannot be shown.")
    return found


def change(machine: Machine, add: Iterable[str] = (), remove: Iterable[str] = (), by: str = "") -> bool:
    """False when nothing had to be changed. Raises Refused when it would be too many."""
    has = set(machine.tags.values_list("name", flat=True))
    gone, new = has & set(remove), set(add) - has - set(remove)
    if not gone and not new:
        return False
    if len(has | new) - len(gone) > MOST:
        raise Refused(f"A machine has at most {MOST} tags.")
    machine.tags.filter(name__in=gone).delete()
    Tag.objects.bulk_create([Tag(machine=machine, name=name) for name in sorted(new)], ignore_conflicts=True)
    signs = [*(f"+{name}" for name in sorted(new)), *(f"−{name}" for name in sorted(gone))]
    lifecycle.note(machine, f"Tags{f' by {by}' if by else ''}: {' '.join(signs)}")
    return True
