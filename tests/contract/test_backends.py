"""Of the suite itself."""

from importlib import import_module
from pathlib import Path

from sandboxes.registry import kinds

from .conftest import REQUIRED
from .gaps import KNOWN_GAPS


def test_it_knows_every_backend_that_is_required_or_has_gaps() -> None:
    assert set(kinds()) >= REQUIRED | set(KNOWN_GAPS)


def test_it_has_a_reason_for_every_gap_and_no_gap_in_what_is_not_checked() -> None:
    modules = [import_module(f".{path.stem}", __package__) for path in Path(__file__).parent.glob("test_*.py")]
    checks = {name for module in modules for name in vars(module) if name.startswith("test_")}
    for gaps in KNOWN_GAPS.values():
        assert gaps.keys() <= checks
        assert all(gaps.values())
