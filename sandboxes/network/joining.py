"""A machine's link and the firewall that goes with it."""

from concurrent.futures import ThreadPoolExecutor

from ..host import Host
from .firewall import ensure_closed, ensure_firewall
from .links import Link, reconnect
from .policy import Policy


def join(host: Host, machine_id: str, policy: Policy, *, is_new: bool) -> Link:
    """What the policy says holds when this returns. Raises Unavailable as `connect`."""
    if not is_new or policy.mode != "off":
        link = reconnect(host, machine_id, policy)
        ensure_firewall(host)
        return link
    with ThreadPoolExecutor(1) as pool:
        closed = pool.submit(ensure_closed, host)
        link = reconnect(host, machine_id, policy)
        closed.result()
        return link
