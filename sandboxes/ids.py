import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    """60 random bits that also fit into a network interface's name."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))
