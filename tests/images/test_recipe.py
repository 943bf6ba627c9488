from pathlib import Path

import pytest

from sandboxes.errors import BuildFailed, Unavailable
from sandboxes.images import recipe

from .conftest import WriteRecipe


def test_it_reads_every_recipe_in_the_folder() -> None:
    assert {"desktop", "office"} <= set(recipe.names())
    for name in recipe.names():
        assert recipe.load(name).title


def test_it_starts_the_display_where_the_product_looks_for_it() -> None:
    starts = {start.name: start for start in recipe.load("desktop").starts}
    assert "5901" in starts["display"].argv
    assert {name for name, start in starts.items() if start.user == "root"} == {"elevate"}


def test_it_names_the_recipes_there_are_when_one_is_unknown(recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("plain")
    with pytest.raises(Unavailable, match=r"no recipe “fancy”; the recipes here are: plain\."):
        recipe.load("fancy", recipes)


def test_it_does_not_leave_the_folder_for_a_strange_name(recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("plain")
    with pytest.raises(Unavailable):
        recipe.load("../recipes/plain", recipes)


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        (['packages = "vim"'], "packages: must be a list"),
        (['packages = ["vim; reboot"]'], "packages: “vim; reboot” is not allowed"),
        (['python = ["thing>=1"]'], "python: “thing>=1” is not allowed"),
        (["space_mib = 0"], "space_mib: must be a whole number"),
        (['variant = "huge"'], "variant: must be one of minbase"),
        (['pakages = ["vim"]'], "pakages: is not a field"),
        (['extends = "nothing"'], "extends: there is no recipe “nothing”"),
        (["title = 3"], "not valid TOML"),
        (["[user]", 'name = "agent"', "uid = 7"], r"user\.uid: must be a whole number from 1000"),
        (["[user]", 'name = "ann"'], r"user\.name: must be “agent”, machines know no other user"),
        (["[[start]]", 'name = "x"', "argv = []"], r"start\[0\]\.argv: must be a list of texts, not empty"),
        (["[[start]]", 'name = "x"', 'argv = ["x"]', "ready = {}"], r"start\[0\]\.ready: give either port or path"),
        (["[env]", '"A B" = "x"'], "env: “A B” cannot be the name of a variable"),
    ],
)
def test_it_names_file_and_field_of_a_mistake(
    recipes: Path, write_recipe: WriteRecipe, lines: list[str], field: str
) -> None:
    folder = write_recipe("wrong", *lines)
    with pytest.raises(BuildFailed, match=field) as failure:
        recipe.load("wrong", recipes)
    assert str(folder / "recipe.toml") in str(failure.value)


def test_it_says_which_field_is_missing(recipes: Path) -> None:
    (recipes / "bare").mkdir(parents=True)
    (recipes / "bare/recipe.toml").write_text('title = "Bare"\n')
    with pytest.raises(BuildFailed, match="description: is missing"):
        recipe.load("bare", recipes)


def test_it_merges_what_a_recipe_extends(recipes: Path, write_recipe: WriteRecipe) -> None:
    start = ["[[start]]", 'name = "shell"', "restart = true"]
    write_recipe("base", 'packages = ["a1", "b1"]', "[env]", 'A = "1"', 'B = "1"', *start, 'argv = ["old"]')
    write_recipe("child", 'packages = ["b1", "c1"]', "[env]", 'B = "2"', *start, 'argv = ["new"]', extends="base")
    child = recipe.load("child", recipes)
    assert child.packages == ("a1", "b1", "c1")
    assert child.env == {"A": "1", "B": "2"}
    assert [start.argv for start in child.starts] == [("new",)]
    assert child.suite == "trixie"
    assert [folder.name for folder in child.folders] == ["base", "child"]


def test_it_has_a_user_also_when_it_names_none(recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("plain")
    write_recipe("base", "[user]", "uid = 1001")
    write_recipe("child", extends="base")
    users = [recipe.load(name, recipes).user for name in ("plain", "base", "child")]
    assert [(user.name, user.uid) for user in users] == [("agent", 1000), ("agent", 1001), ("agent", 1001)]


def test_it_refuses_recipes_that_extend_each_other(recipes: Path, write_recipe: WriteRecipe) -> None:
    write_recipe("one", extends="two")
    write_recipe("two", extends="one")
    with pytest.raises(BuildFailed, match="extends: “one” extends itself in a circle"):
        recipe.load("one", recipes)


def test_it_writes_start_commands_as_the_guest_reads_them(recipes: Path, write_recipe: WriteRecipe) -> None:
    lines = ["[env]", 'A = "1"', "[[start]]", 'name = "x"', 'argv = ["x", "-y"]', "ready = { port = 80 }"]
    write_recipe("plain", *lines)
    plain = recipe.load("plain", recipes)
    assert plain.starts[0].as_json(plain.env) == {
        "name": "x",
        "argv": ["x", "-y"],
        "user": "root",
        "env": {"A": "1"},
        "cwd": "/",
        "ready": {"port": 80},
        "restart": False,
    }


def test_its_digest_follows_every_file_and_nothing_else(recipes: Path, write_recipe: WriteRecipe) -> None:
    file = write_recipe("base") / "files/etc/motd"
    file.parent.mkdir(parents=True)
    file.write_text("hello")
    write_recipe("child", extends="base")

    def digest() -> str:
        return recipe.load("child", recipes).digest

    first = digest()
    assert digest() == first
    file.touch()
    assert digest() == first
    file.chmod(0o755)
    executable = digest()
    assert executable != first
    file.write_text("hello!")
    assert digest() not in {first, executable}
