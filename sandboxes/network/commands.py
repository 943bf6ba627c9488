"""`ip` and `nft`, with their complaints as sentences."""

import subprocess

from ..errors import Unavailable


def ip(*lines: str, namespace: str | None = None) -> None:
    within = ["-n", namespace] if namespace else []
    run(["ip", *within, "-batch", "-"], "\n".join(lines))


def nft(text: str) -> None:
    run(["nft", "-f", "-"], text)


def run(argv: list[str], stdin: str = "") -> str:
    result = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Unavailable(
            f"“{' '.join(argv[:3])}” failed on this host: {result.stderr.strip() or result.stdout.strip()}"
        )
    return result.stdout


def attempt(*argv: str) -> str:
    """What it said, and nothing when it failed."""
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
