"""`./godhand bench NAME [--json]`: each program in `bench/` with a `main` is one benchmark."""

import argparse
import ast
import sys
from importlib import import_module

from . import preflight
from .bench_home import own_home
from .place import ROOT, is_root, prepare


def programs() -> dict[str, str]:
    """Every benchmark by name, with the first line of its docstring."""
    found = {}
    for path in sorted((ROOT / "bench").glob("*.py")):
        tree = ast.parse(path.read_text())
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").splitlines()[0]
    return found


def main(arguments: list[str]) -> int:
    known = programs()
    listed = "\n".join(f"  {name:10} {text}" for name, text in known.items())
    parser = argparse.ArgumentParser(
        prog="./godhand bench",
        description=f"benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=known)
    chosen, rest = parser.parse_known_args(arguments)
    if not is_root():
        sys.exit("Benchmarks make real machines: run ./godhand bench as root.")
    prepare()
    preflight.ensure_runsc()
    preflight.ensure_image(preflight.DEFAULT_IMAGE)
    with own_home():
        return int(import_module(f"bench.{chosen.name}").main(rest) or 0)
