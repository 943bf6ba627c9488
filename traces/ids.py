import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    """60 random bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(12))
