"""Recipes: what goes into an image. The folder is the registry: `recipes/<name>/recipe.toml` is one."""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import Unavailable
from .fields import Fields

RECIPES = Path(__file__).parent / "recipes"
GUEST = Path(__file__).parent.parent / "guest"
GUEST_FILES = {
    "init.py": "init",
    **{f"daemon/{module.name}": f"guest/{module.name}" for module in (GUEST / "daemon").glob("*.py")},
}

_FORMAT = "1"  # raise it when the builder makes something else of the same recipe
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.+!]+")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATTERN = re.compile(r"/\S+")
_USER = "agent"  # the guest acts as this one

Variant = Literal["minbase", "essential", "extract"]


@dataclass(frozen=True)
class User:
    name: str = _USER
    uid: int = 1000
    sudo: bool = False
    folders: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        return f"/home/{self.name}"


@dataclass(frozen=True)
class Ready:
    """A start command is ready once this port is listened on, or this path is there."""

    port: int | None = None
    path: str | None = None


@dataclass(frozen=True)
class Start:
    name: str
    argv: tuple[str, ...]
    user: str = "root"
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    ready: Ready | None = None
    restart: bool = False

    def as_json(self, shared_env: Mapping[str, str]) -> dict[str, Any]:
        ready = {key: value for key, value in asdict(self.ready).items() if value} if self.ready else None
        return {**asdict(self), "argv": list(self.argv), "env": {**shared_env, **self.env}, "ready": ready}


@dataclass(frozen=True)
class Recipe:
    """`folders` are the recipe's own folder and, before it, those it extends."""

    name: str
    title: str
    description: str
    suite: str
    variant: Variant
    space_mib: int
    packages: tuple[str, ...]
    python: tuple[str, ...]
    leave_out: tuple[str, ...]
    env: Mapping[str, str]
    starts: tuple[Start, ...]
    user: User
    folders: tuple[Path, ...]

    @property
    def overlays(self) -> list[Path]:
        return [folder / "files" for folder in self.folders if (folder / "files").is_dir()]

    @property
    def setups(self) -> list[Path]:
        return [folder / "setup.sh" for folder in self.folders if (folder / "setup.sh").is_file()]

    @property
    def digest(self) -> str:
        """Covers every file of the recipe, of those it extends, and of the guest that every image carries."""
        whole = hashlib.sha256(_FORMAT.encode())
        for place, path in self._sources():
            if path.is_symlink():
                kind, content = "link", str(path.readlink()).encode()
            else:
                kind, content = ("program" if path.stat().st_mode & 0o100 else "file"), path.read_bytes()
            whole.update(f"\0{place}\0{kind}\0{hashlib.sha256(content).hexdigest()}".encode())
        return whole.hexdigest()

    def _sources(self) -> Iterator[tuple[str, Path]]:
        for folder in self.folders:
            for path in sorted(folder.rglob("*")):
                if path.is_symlink() or path.is_file():
                    yield f"{folder.name}/{path.relative_to(folder)}", path
        for name in sorted(GUEST_FILES):
            yield f"guest/{name}", GUEST / name


def names(recipes: Path = RECIPES) -> list[str]:
    return sorted(path.parent.name for path in recipes.glob("*/recipe.toml"))


def load(name: str, recipes: Path = RECIPES) -> Recipe:
    """Raises Unavailable for a name without a recipe, BuildFailed for a recipe that makes no sense."""
    return _load(name, recipes, ())


def _load(name: str, recipes: Path, extended_by: tuple[str, ...]) -> Recipe:
    path = recipes / name / "recipe.toml"
    if not _NAME.fullmatch(name) or not path.is_file():
        known = ", ".join(names(recipes)) or "none yet"
        raise Unavailable(f"There is no recipe “{name}”; the recipes here are: {known}.")
    try:
        fields = Fields(tomllib.loads(path.read_text()), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Fields({}, str(path)).wrong("", f"not valid TOML: {error}") from None
    parent_name = fields.text("extends", "")
    if not parent_name:
        recipe = _parse(name, path.parent, fields)
    elif parent_name in (*extended_by, name):
        raise fields.wrong("extends", f"“{parent_name}” extends itself in a circle")
    elif parent_name not in names(recipes):
        raise fields.wrong("extends", f"there is no recipe “{parent_name}”")
    else:
        parent = _load(parent_name, recipes, (*extended_by, name))
        recipe = _merged(parent, _parse(name, path.parent, fields, parent))
    fields.nothing_else()
    return recipe


def _parse(name: str, folder: Path, fields: Fields, parent: Recipe | None = None) -> Recipe:
    return Recipe(
        name=name,
        title=fields.text("title"),
        description=fields.text("description"),
        suite=fields.text("suite", parent.suite if parent else None, _NAME),
        variant=fields.choice("variant", ("minbase", "essential", "extract"), parent.variant if parent else None),
        space_mib=fields.number("space_mib", parent.space_mib if parent else 1024, 1, 1 << 20),
        packages=fields.texts("packages", _PACKAGE),
        python=fields.texts("python", _PINNED),
        leave_out=fields.texts("leave_out", _PATTERN),
        env=fields.variables("env", _VARIABLE),
        starts=tuple(_start(entry) for entry in fields.tables("start")),
        user=_user(fields.table("user"), parent.user if parent else User()),
        folders=(folder,),
    )


def _merged(parent: Recipe, own: Recipe) -> Recipe:
    """Lists add up, variables and start commands of the same name are replaced, the rest is the child's."""
    starts = {start.name: start for start in (*parent.starts, *own.starts)}
    return replace(
        own,
        packages=tuple(dict.fromkeys((*parent.packages, *own.packages))),
        python=tuple(dict.fromkeys((*parent.python, *own.python))),
        leave_out=tuple(dict.fromkeys((*parent.leave_out, *own.leave_out))),
        env={**parent.env, **own.env},
        starts=tuple(starts.values()),
        folders=(*parent.folders, *own.folders),
    )


def _start(fields: Fields) -> Start:
    start = Start(
        name=fields.text("name", None, _NAME),
        argv=fields.texts("argv", at_least=1),
        user=fields.text("user", "root", _NAME),
        env=fields.variables("env", _VARIABLE),
        cwd=fields.text("cwd", "/", _PATTERN) if "cwd" in fields else "/",
        ready=_ready(fields.table("ready")),
        restart=fields.flag("restart", False),
    )
    fields.nothing_else()
    return start


def _ready(fields: Fields | None) -> Ready | None:
    if fields is None:
        return None
    ready = Ready(
        port=fields.number("port", 0, 1, 65535) or None,
        path=fields.text("path", "", _PATTERN) or None,
    )
    if (ready.port is None) == (ready.path is None):
        raise fields.wrong("", "give either port or path")
    fields.nothing_else()
    return ready


def _user(fields: Fields | None, otherwise: User) -> User:
    if fields is None:
        return otherwise
    if fields.text("name", _USER) != _USER:
        raise fields.wrong("name", f"must be “{_USER}”, machines know no other user")
    user = User(
        uid=fields.number("uid", 1000, 1000, 59999),
        sudo=fields.flag("sudo", False),
        folders=fields.texts("folders"),
    )
    fields.nothing_else()
    return user
