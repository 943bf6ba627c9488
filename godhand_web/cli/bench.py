"""`./godhand bench NAME [--json]`: each program in `bench/` with a `main` is one benchmark."""

import argparse
import ast
import sys
from importlib import import_module

from . import preflight
from .ahead import DEFAULT_IMAGE
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
        usage="./godhand bench NAME [--json] [OPTION …]",
        description=f"benchmarks:\n{listed}",
        epilog="With --json a benchmark prints nothing but its last line; ./godhand bench NAME --help tells the rest.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=known, metavar="NAME", help="one of those above")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTION", help="options of its own")
    chosen = parser.parse_args(arguments)
    if {"-h", "--help"} & set(chosen.options):
        return run(chosen.name, chosen.options)
    if not is_root():
        sys.exit("Benchmarks make real machines: run ./godhand bench as root.")
    prepare()
    preflight.ensure_runsc()
    preflight.ensure_image(DEFAULT_IMAGE)
    with own_home():
        return run(chosen.name, chosen.options)


def run(name: str, options: list[str]) -> int:
    try:
        program = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:
        sys.exit(f"Benchmarks need {error.name}, which ./godhand bench {name} installs.")
    return int(program.main(options) or 0)
