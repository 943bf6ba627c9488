"""`./godhand bench NAME [--json]`: each program in `bench/` with a `main` is one benchmark."""

import sys
from importlib import import_module

from . import preflight
from .ahead import DEFAULT_IMAGE
from .bench_home import own_home
from .benchmarks import chosen
from .place import is_root, prepare


def main(arguments: list[str]) -> int:
    name, options = chosen(arguments)
    if {"-h", "--help"} & set(options):
        return run(name, options)
    if not is_root():
        sys.exit("Benchmarks make real machines: run ./godhand bench as root.")
    prepare()
    preflight.ensure_runsc()
    preflight.ensure_image(DEFAULT_IMAGE)
    with own_home():
        return run(name, options)


def run(name: str, options: list[str]) -> int:
    try:
        program = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:
        sys.exit(f"Benchmarks need {error.name}, which ./godhand bench {name} installs.")
    return int(program.main(options) or 0)
