"""Names of machines, snapshots and whatever else is one of many."""

import re
import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 12
_PLAIN = re.compile(f"[0-9a-z]{{1,{LENGTH}}}")


def new_id() -> str:
    """60 random bits that also fit into a network interface's name."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def is_plain(text: str) -> bool:
    """Whether it may become part of a path or of an interface's name."""
    return _PLAIN.fullmatch(text) is not None
