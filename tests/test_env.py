from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes import env

CASES: dict[str, tuple[Callable[[], object], str, list[str]]] = {
    "port": (
        lambda: env.port("GODHAND_PORT", 8800),
        "GODHAND_PORT",
        ["0", "65536", "-1", "eighty", "8e3", "²", "9" * 5000],
    ),
    "address": (
        lambda: env.address("GODHAND_BIND", "127.0.0.1"),
        "GODHAND_BIND",
        ["banana", "localhost.", "::1", "127.1", "10.0.0.300", "224.0.0.1"],
    ),
    "url": (
        lambda: env.url("GODHAND_URL", "http://localhost", ("http", "https")),
        "GODHAND_URL",
        [
            "desk.example.org",
            "localhost:8800",
            "ftp://desk",
            "http://",
            "http://desk:many",
            "http://desk:0",
            "http://[",
            "http://a b/",
            "http://desk;script",
        ],
    ),
    "origin": (
        lambda: env.origin("GODHAND_URL", "http://localhost:8800", ("http", "https")),
        "GODHAND_URL",
        ["https://desk/godhand", "https://desk?x=1", "https://desk/#top", "https://me@desk", "desk"],
    ),
    "hosts": (
        lambda: env.hosts("GODHAND_ALLOWED_HOSTS"),
        "GODHAND_ALLOWED_HOSTS",
        ["https://desk", "desk:8800", "desk/", "a..b", "desk;x"],
    ),
    "url without a host": (
        lambda: env.url("GODHAND_REDIS_URL", "", ("redis", "unix"), with_host=False),
        "GODHAND_REDIS_URL",
        ["localhost:6379", "redis:desk", "http://desk", "redis://desk:0"],
    ),
    "choice": (
        lambda: env.choice("GODHAND_LOG_LEVEL", "INFO", ("DEBUG", "INFO")),
        "GODHAND_LOG_LEVEL",
        ["LOUD", "info"],
    ),
    "boolean": (lambda: env.boolean("GODHAND_DEBUG", False), "GODHAND_DEBUG", ["maybe", "2"]),
    "directory": (
        lambda: env.directory("GODHAND_HOME", Path("/x")),
        "GODHAND_HOME",
        ["here", "/", "./x", "~nobody-there/x"],
    ),
    "network": (
        lambda: env.network("GODHAND_SUBNET", "10.0.0.0/16", 24),
        "GODHAND_SUBNET",
        ["10.0.0.0/31", "10.0.0.1/16", "x", "127.0.0.0/8", "0.0.0.0/0", "224.0.0.0/8"],
    ),
    "networks": (lambda: env.networks("GODHAND_WEBHOOK_NETWORKS"), "GODHAND_WEBHOOK_NETWORKS", ["abc", "10.0.0.1/8"]),
    "host name": (lambda: env.host_name("GODHAND_HOST", "desk"), "GODHAND_HOST", ["a b;c", "../x", ".", "x" * 101]),
}


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, case in CASES.items() for value in case[2]])
def test_it_refuses_nonsense_by_the_variables_name(kind: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, name, _ = CASES[kind]
    monkeypatch.setenv(name, value)
    with pytest.raises(env.BadSetting, match=f"{name} is “"):
        read()


@pytest.mark.parametrize("kind", CASES)
def test_it_takes_an_empty_value_for_none(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, name, _ = CASES[kind]
    monkeypatch.delenv(name, raising=False)
    unset = read()
    monkeypatch.setenv(name, "")
    assert read() == unset


def test_it_takes_the_origin_of_pages_with_or_without_its_last_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("https://desk.example.org:8443", "https://desk.example.org:8443/"):
        monkeypatch.setenv("GODHAND_URL", given)
        assert env.origin("GODHAND_URL", "", ("http", "https")) == "https://desk.example.org:8443"


def test_it_takes_every_kind_of_host_that_pages_may_be_called_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODHAND_ALLOWED_HOSTS", "desk.example.org, .example.net 10.0.0.7 [::1] *")
    assert env.hosts("GODHAND_ALLOWED_HOSTS") == ["desk.example.org", ".example.net", "10.0.0.7", "[::1]", "*"]


def test_it_does_not_tell_the_password_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:s3cret@db:many/x")
    with pytest.raises(env.BadSetting) as refused:
        env.url("DATABASE_URL", "", ("postgres",))
    assert "“db:many/x”" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_it_reads_a_secret_from_the_file_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("GODHAND_SECRET_KEY_FILE", str(tmp_path / "key"))
    assert env.text("GODHAND_SECRET_KEY") == "s3cret"


def test_it_names_the_file_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GODHAND_SECRET_KEY_FILE", str(tmp_path / "missing"))
    with pytest.raises(env.BadSetting, match="GODHAND_SECRET_KEY_FILE"):
        env.text("GODHAND_SECRET_KEY")


def test_it_knows_the_address_of_localhost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODHAND_BIND", "localhost")
    assert env.address("GODHAND_BIND", "0.0.0.0") == "127.0.0.1"


def test_it_refuses_a_file_that_is_no_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xfe\x00")
    monkeypatch.setenv("GODHAND_SECRET_KEY_FILE", str(tmp_path / "secret"))
    with pytest.raises(env.BadSetting, match="GODHAND_SECRET_KEY_FILE is “"):
        env.text("GODHAND_SECRET_KEY")
