"""Typed readers of GODHAND_* variables. A value that makes no sense is refused by the variable's name."""

import os
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path
from urllib.parse import urlsplit

LONGEST_NUMBER = 18
WIDEST_PREFIX = 8


class BadSetting(SystemExit):
    """Ends the program with one sentence: a wrong setting is never guessed around."""

    def __init__(self, name: str, value: str, wanted: str) -> None:
        super().__init__(f"{name} is “{value}”, but must be {wanted}.")


def text(name: str, default: str = "") -> str:
    """The variable, or the contents of the file that `<name>_FILE` names."""
    from_file = os.environ.get(f"{name}_FILE")
    if from_file:
        try:
            return Path(from_file).read_text().strip() or default
        except OSError as error:
            raise BadSetting(f"{name}_FILE", from_file, f"a readable file ({error.strerror})") from None
        except UnicodeDecodeError:
            raise BadSetting(f"{name}_FILE", from_file, "a file of text") from None
    return os.environ.get(name) or default


def choice(name: str, default: str, choices: Sequence[str]) -> str:
    value = text(name, default)
    if value not in choices:
        raise BadSetting(name, value, f"one of {', '.join(choices)}")
    return value


def integer(name: str, default: int, least: int, most: int) -> int:
    value = os.environ.get(name, "")
    if not value:
        return default
    is_number = value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER
    if not is_number or not least <= int(value) <= most:
        raise BadSetting(name, value, f"a whole number from {least} to {most}")
    return int(value)


def port(name: str, default: int) -> int:
    return integer(name, default, 1, 65535)


def address(name: str, default: str) -> str:
    value = text(name, default)
    try:
        parsed = IPv4Address("127.0.0.1" if value == "localhost" else value)
    except ValueError:
        parsed = None
    if parsed is None or parsed.is_multicast:
        raise BadSetting(name, value, f"an IPv4 address such as {default}, or 0.0.0.0 for all of this host")
    return str(parsed)


def url(name: str, default: str, schemes: Sequence[str], *, with_host: bool = True) -> str:
    """What is refused is told without the password that it may have."""
    value = text(name, default)
    if value != default and not _is_url(value, schemes, with_host):
        wanted = " or ".join(f"{scheme}://" for scheme in schemes)
        raise BadSetting(name, value.rpartition("@")[2], f"a valid address that begins with {wanted}")
    return value


def _is_url(value: str, schemes: Sequence[str], with_host: bool) -> bool:
    try:
        parts = urlsplit(value)
        has_good_port = parts.port != 0
    except ValueError:
        return False
    is_plain = "://" in value and parts.scheme in schemes and not re.search(r"[\s;]", value)
    return is_plain and has_good_port and bool(parts.hostname or not with_host)


def origin(name: str, default: str, schemes: Sequence[str]) -> str:
    """An address whose host is all of it: pages are not served below a path."""
    value = url(name, default, schemes).rstrip("/")
    parts = urlsplit(value)
    if value != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        raise BadSetting(name, value.rpartition("@")[2], f"scheme, host and port alone, such as {default}")
    return value


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
    try:
        path = Path(value or default).expanduser()
    except RuntimeError:
        raise BadSetting(name, value, "a directory of somebody whom this host knows") from None
    if not path.is_absolute() or path == Path("/"):
        raise BadSetting(name, value, "an absolute path of a directory of its own")
    return path


def network(name: str, default: str, longest_prefix: int) -> IPv4Network:
    value = os.environ.get(name, "") or default
    sizes = f"with a prefix from {WIDEST_PREFIX} to {longest_prefix}"
    wanted = f"an IPv4 network such as {default}, of no other use, {sizes}"
    try:
        parsed = IPv4Network(value)
    except ValueError:
        raise BadSetting(name, value, wanted) from None
    has_other_use = parsed.is_loopback or parsed.is_multicast or parsed.is_link_local
    if has_other_use or not WIDEST_PREFIX <= parsed.prefixlen <= longest_prefix:
        raise BadSetting(name, value, wanted)
    return parsed


def networks(name: str) -> list[str]:
    """Addresses and networks, of both kinds."""
    for word in (found := words(name)):
        try:
            ip_network(word)
        except ValueError:
            raise BadSetting(name, word, "addresses or networks such as 10.0.0.0/8, with blanks between them") from None
    return found


def hosts(name: str) -> list[str]:
    """Names and addresses that pages may be called by; one that begins with a point means all below it, `*` all."""
    for word in (found := words(name)):
        if not re.fullmatch(r"\*|\.?[a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]", word, re.IGNORECASE):
            raise BadSetting(name, word, "names such as desk.example.org or .example.org, without scheme and port")
    return found


def host_name(name: str, default: str) -> str:
    value = text(name, default)
    if not re.fullmatch(r"[\w-][\w.-]{0,99}", value):
        raise BadSetting(name, value, "a name of letters, digits, points and dashes")
    return value
