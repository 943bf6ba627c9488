"""Which process runs what, and when.

The longest come first: at the end there are only short ones left, and no process waits long for another.
"""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/contract/", "tests/installation/")
"""Folders whose files share something costly: one process runs all of such a folder."""

REAPING = ("tests/machines/test_forking.py", "tests/machines/test_lifecycle.py")
"""The reaper removes what no row claims, the shared desktop too: these come before anybody needs that."""

SECONDS = {
    "tests/installation/": 500,
    "tests/agents/test_durability.py": 120,
    "tests/web/test_access.py": 80,
    "tests/web/test_pages_in_browser.py": 80,
    "tests/agents/test_secret_run.py": 60,
    "tests/contract/": 60,
    "tests/web/test_hostile_traces.py": 60,
    "tests/agents/test_demo_task.py": 50,
    "tests/agents/test_run.py": 50,
    "tests/agents/test_vendors.py": 50,
    "tests/inspect/test_conformance.py": 50,
    "tests/machines/test_limits.py": 50,
    "tests/web/test_trace_page_in_browser.py": 50,
    "tests/web/test_exports_in_browser.py": 40,
    "tests/web/test_lease_in_browser.py": 40,
    "tests/web/test_tasks_in_browser.py": 40,
    "tests/agents/test_branches.py": 30,
    "tests/agents/test_drivers.py": 30,
    "tests/agents/test_failures.py": 30,
    "tests/checkers/test_documents.py": 30,
    "tests/checkers/test_hostile_files.py": 30,
    "tests/machines/test_policy.py": 30,
}
"""On two idle cores, roughly: only the order matters, and that short ones come last."""

IN_A_BROWSER, ON_A_MACHINE, USUAL = 25, 15, 5
"""Of what is not listed. Nothing that may be long is among the last."""


def part_of(nodeid: str) -> str:
    """A file, or a folder: what goes to one process as a whole."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def place(nodeid: str) -> tuple[bool, int]:
    part = part_of(nodeid)
    return not nodeid.startswith(REAPING), -SECONDS.get(part, guess(part))


def guess(part: str) -> int:
    if part.endswith("_in_browser.py"):
        return IN_A_BROWSER
    return ON_A_MACHINE if part.startswith(("tests/agents/", "tests/machines/", "tests/gate/")) else USUAL


class WholeParts(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        return part_of(nodeid)
