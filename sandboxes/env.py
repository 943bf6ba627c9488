"""Typed readers of GODHAND_* variables. A value that makes no sense is refused by the variable's name."""

import os
from ipaddress import IPv4Network
from pathlib import Path


class BadSetting(SystemExit):
    """Ends the program with one sentence: a wrong setting is never guessed around."""

    def __init__(self, name: str, value: str, wanted: str) -> None:
        super().__init__(f"{name} is “{value}”, but must be {wanted}.")


def text(name: str, default: str = "") -> str:
    """The variable, or the contents of the file that `<name>_FILE` names."""
    from_file = os.environ.get(f"{name}_FILE")
    if from_file:
        try:
            return Path(from_file).read_text().strip()
        except OSError as error:
            raise BadSetting(f"{name}_FILE", from_file, f"a readable file ({error.strerror})") from None
    return os.environ.get(name, default)


def integer(name: str, default: int, least: int, most: int) -> int:
    value = os.environ.get(name, "")
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise BadSetting(name, value, f"a whole number from {least} to {most}")
    return int(value)


def port(name: str, default: int) -> int:
    return integer(name, default, 1, 65535)


def boolean(name: str, default: bool) -> bool:
    value = os.environ.get(name, "")
    if not value:
        return default
    if value.lower() not in {"1", "0", "yes", "no", "true", "false", "on", "off"}:
        raise BadSetting(name, value, "yes or no")
    return value.lower() in {"1", "yes", "true", "on"}


def words(name: str, default: str = "") -> list[str]:
    return [word for word in os.environ.get(name, default).replace(",", " ").split() if word]


def directory(name: str, default: Path) -> Path:
    value = os.environ.get(name, "")
    path = Path(value or default).expanduser()
    if not path.is_absolute() or path == Path("/"):
        raise BadSetting(name, value, "an absolute path of a directory of its own")
    return path


def network(name: str, default: str, longest_prefix: int) -> IPv4Network:
    value = os.environ.get(name, "") or default
    wanted = f"an IPv4 network such as {default}, with a prefix of {longest_prefix} or shorter"
    try:
        parsed = IPv4Network(value)
    except ValueError:
        raise BadSetting(name, value, wanted) from None
    if parsed.prefixlen > longest_prefix:
        raise BadSetting(name, value, wanted)
    return parsed
