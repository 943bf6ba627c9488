"""`./godhand image build|list|show`."""

import argparse
import json
import sys

from sandboxes.errors import SandboxError
from sandboxes.images import builder, recipe, store

from .place import prepare
from .system import say


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./godhand image", description="Build, list or show machine images.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    build = verbs.add_parser("build", help="build an image from its recipe")
    build.add_argument("name")
    build.add_argument("--force", action="store_true", help="build it anew even when nothing changed")
    verbs.add_parser("list", help="all recipes, and what is built of them")
    show = verbs.add_parser("show", help="an image's manifest, as JSON")
    show.add_argument("name")
    chosen = parser.parse_args(arguments)
    try:
        return {"build": _build, "list": _list, "show": _show}[chosen.verb](chosen)
    except SandboxError as error:
        sys.exit(str(error))


def _build(chosen: argparse.Namespace) -> int:
    prepare()
    image = builder.build(chosen.name, say, force=chosen.force)
    print(f"{image.name} {image.digest[:12]}  {image.size / 2**20:.0f} MiB")
    return 0


def _list(_chosen: argparse.Namespace) -> int:
    images = {image.name: image for image in store.built()}
    for name in recipe.names():
        image = images.get(name)
        state = f"{image.digest[:12]}  {image.size / 2**20:6.0f} MiB" if image else "not built"
        print(f"{name:12} {state:26} {recipe.load(name).description}")
    return 0


def _show(chosen: argparse.Namespace) -> int:
    print(json.dumps(dict(store.find(chosen.name).manifest), indent=2))
    return 0
