from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandboxes.host import here

WriteRecipe = Callable[..., Path]


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GODHAND_IMAGES", str(tmp_path / "images"))
    here.cache_clear()
    yield tmp_path / "images"
    here.cache_clear()


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    return tmp_path / "recipes"


@pytest.fixture
def write_recipe(recipes: Path) -> WriteRecipe:
    """Writes recipes/<name>/recipe.toml with the fields every recipe needs, and further lines."""

    def write(name: str, *lines: str, **fields: str) -> Path:
        folder = recipes / name
        folder.mkdir(parents=True, exist_ok=True)
        given = {"title": name.title(), "description": f"The {name} image.", **fields}
        if "extends" not in given:
            given.setdefault("suite", "trixie")
        text = [*(f'{key} = "{value}"' for key, value in given.items()), *lines]
        (folder / "recipe.toml").write_text("\n".join(text) + "\n")
        return folder

    return write
