"""Real parts for every test: one private Redis, one machine, one whole installation per session, made on demand."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis
from redis import Redis

from bench.installation import remove_home
from godhand_web.cli.processes import wait_until
from godhand_web.cli.system import REDIS_PROGRAMS
from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.network import remove_firewall

from . import order
from .broker import answers
from .home import TEST_HOME

if TYPE_CHECKING:
    from godhand_web.models import User


# How long an example takes says how busy the host is.
hypothesis.register_profile("godhand", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.load_profile("godhand")


def pytest_configure() -> None:
    """Passwords of tests are worth no million rounds, and a client for one request no look at every static file."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    # Whoever starts us in the background of a shell makes us, and every program of ours, deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: order.place(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> order.WholeParts | None:
    return order.WholeParts(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_sessionfinish() -> None:
    for handle in GvisorSandbox.owned():
        GvisorSandbox.attach(handle).destroy()
    remove_firewall(here())
    remove_home(TEST_HOME)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Where the settings expect the private one to be."""
    directory = here().run
    program = next(path for path in map(shutil.which, REDIS_PROGRAMS) if path)
    socket = directory / "redis.sock"
    argv = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--dir", str(directory), "--save", ""]
    url = f"unix://{socket}"
    process = subprocess.Popen(argv, executable=program, stdout=subprocess.DEVNULL)
    try:
        with Redis.from_url(url) as client:
            assert wait_until(lambda: answers(client), 10)
        yield url
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def owner(db: None) -> "User":
    return make_user("owner")


@pytest.fixture
def stranger(db: None) -> "User":
    return make_user("stranger")


@pytest.fixture
def staff(db: None) -> "User":
    return make_user("staff", is_staff=True)


def make_user(name: str, *, is_staff: bool = False) -> "User":
    from godhand_web.models import User

    return User.objects.create_user(name, is_staff=is_staff)


@pytest.fixture(scope="session")
def machine() -> Iterator[GvisorSandbox]:
    """One started desktop that tests share: leave it as you found it."""
    sandbox = GvisorSandbox.create(new_id(), store.find("desktop"), Options())
    try:
        sandbox.start()
        yield sandbox
    finally:
        sandbox.destroy()
