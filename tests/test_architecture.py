"""Who may import whom. Both tables are whole: a module that is missing here, or a rule nobody uses, fails."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FRAMEWORKS = {"django", "celery", "channels", "daphne", "kombu", "asgiref"}

APPS = {
    "sandboxes": set[str](),
    "traces": set[str](),
    "agents": {"sandboxes", "traces"},
    "godhand_web": {"agents", "sandboxes", "traces"},
    "bench": {"agents", "godhand_web", "sandboxes", "traces"},
}
SHELL = {
    "sandboxes": {
        "apps",
        "database",
        "forking",
        "imaging",
        "lease",
        "lifecycle",
        "models",
        "pool",
        "publish",
        "reaper",
        "rekey",
        "screenshots",
        "slots",
        "tagging",
        "tasks",
        "thumbnails",
    },
    "traces": {
        "apps",
        "bulk",
        "copies",
        "doers",
        "drafts",
        "fields",
        "generate",
        "importing",
        "invented",
        "jobs",
        "ledger",
        "lifecycle",
        "material",
        "models",
        "outline",
        "packing",
        "pruning",
        "publish",
        "queries",
        "recorder",
        "replica",
        "retention",
        "safe",
        "screens",
        "search",
        "shares",
        "sizes",
        "storage",
        "tasks",
        "thumbs",
        "words",
    },
    "agents": {
        "api",
        "approval",
        "apps",
        "attaching",
        "branching",
        "choosing",
        "deciding",
        "delivery",
        "drafting",
        "explore",
        "exploring",
        "filesets",
        "giveback",
        "handback",
        "hints",
        "holding",
        "keeping",
        "leases",
        "lifecycle",
        "model_keys",
        "models",
        "needed",
        "notify",
        "places",
        "points",
        "provisioning",
        "pruning",
        "publish",
        "reading",
        "reference_pictures",
        "removal",
        "renewal",
        "runner",
        "saving",
        "schedules",
        "sharing",
        "standing",
        "starting",
        "states",
        "takeover",
        "tasks",
        "thinning",
        "trying",
        "vault",
        "wanted",
        "watching",
        "witness",
    },
}
STANDARD_LIBRARY_ONLY = {
    "godhand_web.cli.bootstrap", "godhand_web.cli.commands", "godhand_web.cli.system", "godhand_web.cli.doctor",
    "godhand_web.cli.record",
    "sandboxes.guest.daemon", "sandboxes.guest.init",
}  # fmt: skip


def modules(app: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / app).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "migrations" not in parts and "recipes" not in parts:
            yield ".".join(parts).removesuffix(".__init__"), path


def imports(name: str, path: Path) -> set[str]:
    """Absolute dotted names, also of relative and of nested imports."""
    found = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            found |= {f"{source}.{alias.name}" for alias in node.names}
    return found


def is_standard_library_only(name: str) -> bool:
    return any(f"{name}.".startswith(f"{whole}.") for whole in STANDARD_LIBRARY_ONLY)


def is_shell(name: str) -> bool:
    app, _, rest = name.partition(".")
    return rest.partition(".")[0] in SHELL.get(app, set())


def wrong_imports(name: str, path: Path) -> Iterator[str]:
    app = name.partition(".")[0]
    core = app in SHELL and not is_shell(name)
    for target in imports(name, path):
        other = target.partition(".")[0]
        if other in APPS and other != app and other not in APPS[app]:
            yield f"{name} imports {target}: {app} may not import {other}"
        if core and other in FRAMEWORKS:
            yield f"{name} imports {target}: core knows no framework"
        if core and is_shell(target):
            yield f"{name} imports {target}: core knows no shell"


@pytest.mark.parametrize("app", APPS)
def test_it_imports_in_one_direction_only(app: str) -> None:
    assert [line for name, path in modules(app) for line in wrong_imports(name, path)] == []


def test_it_has_no_rule_that_nobody_uses() -> None:
    used = {
        (app, target.partition(".")[0]) for app in APPS for name, path in modules(app) for target in imports(name, path)
    }
    assert [(app, other) for app, others in APPS.items() for other in others if (app, other) not in used] == []
    names = {name for app in SHELL for name, _ in modules(app)}
    assert [f"{app}.{module}" for app in SHELL for module in SHELL[app] if f"{app}.{module}" not in names] == []


def test_it_catches_a_core_module_that_imports_django(tmp_path: Path) -> None:
    offender = tmp_path / "offender.py"
    offender.write_text("def late():\n    from django.db import models\n    from ..models import Machine\n")
    assert sorted(wrong_imports("sandboxes.display.offender", offender)) == [
        "sandboxes.display.offender imports django.db.models: core knows no framework",
        "sandboxes.display.offender imports sandboxes.models.Machine: core knows no shell",
    ]


def test_it_starts_and_runs_inside_machines_on_the_standard_library_alone() -> None:
    import sys

    known = set(sys.stdlib_module_names) | set(APPS)
    found = {
        f"{name} imports {target}"
        for app in ("godhand_web", "sandboxes")
        for name, path in modules(app)
        if is_standard_library_only(name)
        for target in imports(name, path)
        if target.partition(".")[0] not in known
    }
    assert found == set()


def test_it_keeps_the_loop_short() -> None:
    assert len((ROOT / "agents/loop.py").read_text().splitlines()) < 150
