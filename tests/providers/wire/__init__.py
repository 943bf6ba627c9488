"""The services' side of the wire, for tests without a network."""

from . import replies
from .server import KEY, Cut, Hang, Request, Status, Truncated, WireServer

__all__ = ["KEY", "Cut", "Hang", "Request", "Status", "Truncated", "WireServer", "replies"]
