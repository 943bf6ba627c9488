"""Names of machines, snapshots and whatever else is one of many."""

import random
import re
import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 12
CALM = [
    "amber", "brisk", "calm", "clear", "early", "gentle", "keen", "level", "lucid",
    "mellow", "noble", "plain", "quiet", "ready", "steady", "swift",
]  # fmt: skip
BIRDS = [
    "crane", "finch", "heron", "ibis", "kestrel", "lark", "linnet", "martin", "owl",
    "plover", "raven", "robin", "swift", "tern", "wren", "wagtail",
]  # fmt: skip
_PLAIN = re.compile(f"[0-9a-z]{{1,{LENGTH}}}")


def new_id() -> str:
    """60 random bits that also fit into a network interface's name."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def new_name() -> str:
    """For a machine that was given none."""
    return f"{random.choice(CALM)}-{random.choice(BIRDS)}"


def is_plain(text: str) -> bool:
    """Whether it may become part of a path or of an interface's name."""
    return _PLAIN.fullmatch(text) is not None
