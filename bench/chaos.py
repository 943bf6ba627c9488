"""Random operations on machines while the machines worker is killed at random; then, what is left and what lies.

An installation of its own is started for it. An orphan is a thing on the host that no row claims after the reaper has
looked twice; a lie is a row that says something else than the host does.
"""

import argparse
import random
import sys
from collections.abc import Sequence

from .installation import installation
from .stats import positive, report


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench chaos", description=__doc__)
    parser.add_argument("--n", type=positive, default=200, help="operations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with installation():
        import django

        django.setup()
        from .disorder import Disorder

        result = Disorder(random.Random(options.seed), quiet=options.json).run(options.n)
    report(result)
    return int(bool(result["orphans"] or result["lies"]))


if __name__ == "__main__":
    sys.exit(main())
