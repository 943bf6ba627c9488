from collections.abc import Callable
from pathlib import Path

import pytest

from sandboxes import env

CASES: dict[str, tuple[Callable[[], object], str, list[str]]] = {
    "port": (
        lambda: env.port("GODHAND_PORT", 8800),
        "GODHAND_PORT",
        ["0", "65536", "-1", "eighty", "8e3", "²"],
    ),
    "boolean": (lambda: env.boolean("GODHAND_DEBUG", False), "GODHAND_DEBUG", ["maybe", "2"]),
    "directory": (lambda: env.directory("GODHAND_HOME", Path("/x")), "GODHAND_HOME", ["here", "/", "./x"]),
    "network": (
        lambda: env.network("GODHAND_SUBNET", "10.0.0.0/16", 24),
        "GODHAND_SUBNET",
        ["10.0.0.0/31", "10.0.0.1/16", "x"],
    ),
}


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, case in CASES.items() for value in case[2]])
def test_it_refuses_nonsense_by_the_variables_name(kind: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, name, _ = CASES[kind]
    monkeypatch.setenv(name, value)
    with pytest.raises(env.BadSetting, match=f"{name} is “"):
        read()


def test_it_reads_a_secret_from_the_file_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("GODHAND_SECRET_KEY_FILE", str(tmp_path / "key"))
    assert env.text("GODHAND_SECRET_KEY") == "s3cret"


def test_it_names_the_file_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GODHAND_SECRET_KEY_FILE", str(tmp_path / "missing"))
    with pytest.raises(env.BadSetting, match="GODHAND_SECRET_KEY_FILE"):
        env.text("GODHAND_SECRET_KEY")
