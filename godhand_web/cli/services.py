"""The processes of an installation: how each is started, as whom, and how one knows that it is ready."""

import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException

import redis
from django.conf import settings

from sandboxes.network import nameserver_address

from .place import as_root, as_service, is_root, python
from .system import REDIS_PROGRAMS

FIRST_ORDINARY_PORT = 1024


@dataclass(frozen=True)
class Service:
    name: str
    argv: list[str]
    ready: Callable[[], bool]
    patience: float = 10
    before: Callable[[], None] = lambda: None
    """Done each time before it is started."""

    remedy: str = ""
    """For one that does not start, after its last words."""


def private_redis() -> Service:
    found = next(path for path in map(shutil.which, REDIS_PROGRAMS) if path)
    options = {
        "--port": "0",
        "--unixsocket": str(settings.REDIS_SOCKET),
        "--unixsocketperm": "700",
        "--dir": str(settings.HOST.home / "redis"),
        "--appendonly": "yes",
        "--save": "",
        "--maxmemory-policy": "noeviction",
    }
    words = [word for pair in options.items() for word in pair]
    # redis-check-rdb is the same program as the server, told apart by the name it is called by.
    argv = python("-c", "import os, sys; os.execv(sys.argv[1], ['redis-server', *sys.argv[2:]])", found, *words)
    remedy = f"; if it cannot read its files, move {options['--dir']} away: nothing in it is needed"
    return Service("redis", as_service(argv), redis_answers, remedy=remedy)


def redis_answers() -> bool:
    try:
        return bool(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping())
    except (redis.RedisError, OSError):
        return False


def services() -> list[Service]:
    """In the order in which they start; all need Redis and a migrated database."""
    machines = f"machines.{settings.MACHINE_HOST}"
    names = as_service(python("-m", "sandboxes.resolver"), keep=("net_admin", "net_bind_service"))
    return [
        *([Service("resolver", names, _names_answered)] if is_root() else []),
        _worker("machines", as_root(_consumer("machines", machines, 8)), 30),
        _worker("agents", as_service(_consumer("agents", "agents", 16)), 20),
        _worker("beat", as_service(_celery("beat", "--pidfile=")), 10),
        Service("gate", _listener(python("-m", "godhand_web.gate"), settings.GATE_PORT), gate_listens),
        Service("web", _listener(_daphne(), settings.PORT), _web_answers),
    ]


def _listener(argv: list[str], port: int) -> list[str]:
    """Ports such as 80 take one right more."""
    return as_service(argv, keep=("net_bind_service",) if port < FIRST_ORDINARY_PORT else ())


def _celery(*arguments: str) -> list[str]:
    return python("-m", "celery", "-A", "godhand_web.celery", *arguments, "--loglevel=INFO")


def _worker(name: str, argv: list[str], patience: float) -> Service:
    return Service(name, argv, lambda: _worker_alive(name), patience, before=lambda: _forget_worker(name))


def _consumer(name: str, queue: str, threads: int) -> list[str]:
    return _celery("worker", "-n", f"{name}@%h", "-Q", queue, "-P", "threads", "-c", str(threads), "--without-gossip")


def _daphne() -> list[str]:
    """Without its list of addresses that were asked for: some of them hold the tokens of links."""
    bind = ("-b", settings.BIND, "-p", str(settings.PORT))
    return python("-m", "daphne", *bind, "--no-server-name", "--verbosity", "0", "godhand_web.asgi:application")


def _worker_alive(name: str) -> bool:
    try:
        return bool(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).exists(f"alive:{name}"))
    except (redis.RedisError, OSError):
        return False


def _forget_worker(name: str) -> None:
    """The sign of life of the one before, which outlives it and a restart of Redis."""
    with suppress(redis.RedisError, OSError):
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).delete(f"alive:{name}")


def gate_listens() -> bool:
    return _listens(_local_address(), settings.GATE_PORT)


def _names_answered() -> bool:
    return _listens(str(nameserver_address(settings.HOST)), 53)


def _listens(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, port)) == 0


def _web_answers() -> bool:
    """Asked without the proxy that the host may need for what is elsewhere."""
    asked = HTTPConnection(_local_address(), settings.PORT, timeout=2)
    try:
        asked.request("GET", "/healthz")
        return asked.getresponse().status == 200
    except (HTTPException, OSError):
        return False
    finally:
        asked.close()


def _local_address() -> str:
    return "127.0.0.1" if settings.BIND == "0.0.0.0" else settings.BIND
