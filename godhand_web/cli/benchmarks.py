"""The benchmarks by name. Standard library only: one that is mistyped is refused before anything is installed."""

import argparse
import ast
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "bench"


def programs() -> dict[str, str]:
    """Every benchmark by name, with the first line of its docstring."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(path.read_text())
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").splitlines()[0]
    return found


def chosen(arguments: list[str]) -> tuple[str, list[str]]:
    """Its name and the options of its own. Without a name the program ends here and says which there are."""
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
    if not arguments:
        parser.print_help()
        parser.exit(2)
    found = parser.parse_args(arguments)
    return found.name, found.options
