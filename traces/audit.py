"""Who did what that others should be able to look up: one line each, as `action name=value …`."""

import json
import logging

log = logging.getLogger("godhand.audit")


def tell(action: str, **facts: object) -> None:
    """Values are ids, numbers and names; a text is written in quotes, so that no value can pretend to be a line."""
    log.info("%s %s", action, " ".join(f"{name}={_plain(value)}" for name, value in facts.items()))


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isascii() and text.isalnum() else json.dumps(text)
