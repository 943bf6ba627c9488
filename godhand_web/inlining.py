"""Scripts, styles and icons of the pages as text, for a page that must bring all of its own along."""

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath

from django.conf import settings

STATIC = Path(settings.BASE_DIR) / "static"
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
FOREIGN = re.compile(r"^\s*(?:import|export)\b|\bimport[.(]|^(?:\w.*\W)?await\b|</script", re.MULTILINE)
"""What has no place in a function: other imports and exports, waiting at the top; and the end of a page's script."""

ADDRESS = re.compile(r'url\("([^"]+)"\)')
FONT = "data:font/woff2;base64,"


def script(*entries: str) -> str:
    """Modules and all that they import as one: each in a function of its own, after those that it needs.

    It knows what our own modules use: imports of names, and exports of functions, classes and constants. Raises
    ValueError for anything else.
    """
    paths: list[str] = []
    for entry in entries:
        _in_order(entry, paths)
    return "const modules = {};\n" + "\n".join(map(_wrapped, paths))


def style(*names: str) -> str:
    """Style sheets one after the other, with the fonts in them."""
    return linked_style(*names, address=_font)


def linked_style(*names: str, address: Callable[[str], str]) -> str:
    """Style sheets one after the other; `address` tells where the file at a path is found."""
    return "\n".join(_with_addresses(name, address) for name in names)


@cache
def sprite(path: str) -> str:
    return _read(path).replace("<svg ", '<svg class="unseen" aria-hidden="true" ', 1)


def fingerprint(text: str) -> str:
    """As a content security policy names what may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _in_order(path: str, seen: list[str]) -> list[str]:
    """Whoever is needed comes first."""
    if path in seen:
        return seen
    for _, name in IMPORT.findall(_read(path)):
        _in_order(_beside(path, name), seen)
    seen.append(path)
    return seen


def _wrapped(path: str) -> str:
    text = _read(path)
    exported = [name for _, name in EXPORT.findall(text)]
    body = IMPORT.sub(lambda found: _taken(path, *found.groups()), text)
    body = EXPORT.sub(r"\1 \2", body)
    if FOREIGN.search(body):
        raise ValueError(f"{path} cannot be put into a page.")
    return f'modules["{path}"] = (() => {{\n{body}\nreturn {{ {", ".join(exported)} }};\n}})();'


def _taken(path: str, names: str | None, source: str) -> str:
    if names is None:
        return ""
    return f'const {{ {names.strip().replace(" as ", ": ")} }} = modules["{_beside(path, source)}"];\n'


def _beside(path: str, name: str) -> str:
    return normpath(f"{dirname(path)}/{name}")


def _with_addresses(sheet: str, address: Callable[[str], str]) -> str:
    return ADDRESS.sub(lambda found: f'url("{address(_beside(sheet, found[1]))}")', _read(sheet))


def _font(path: str) -> str:
    return f"{FONT}{base64.b64encode((STATIC / path).read_bytes()).decode()}"


def _read(path: str) -> str:
    return (STATIC / path).read_text()
