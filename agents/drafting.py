"""A task before it is stored: what it may say, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sandboxes.images import store
from sandboxes.models import Snapshot
from sandboxes.network import Policy

from . import vault
from .attaching import MOST, Attachable, attachment
from .budget import Limits
from .errors import BadTask
from .models import Attachment, OnHelp, Task
from .placeholders import checked
from .plan import Plan
from .providers import registry
from .verify import parse_checks, to_json

LONGEST_GOAL = 50_000


class What(TypedDict, total=False):
    """With a `snapshot` its machines go on where that was taken, and its image is the one that counts. The agent types
    `secrets` by name; their values are hidden before anything is stored.
    """

    image: str
    provider: str
    options: Mapping[str, Any]
    attachments: Mapping[str, Attachable]
    checks: str | Sequence[Mapping[str, Any]]
    limits: Mapping[str, Any]
    network: Mapping[str, Any]
    secrets: Mapping[str, str]
    snapshot: str
    on_help: str
    plan: Mapping[str, Any]
    keep_machine: bool


def drafted(owner: Any, goal: str, what: What) -> tuple[Task, list[Attachment]]:
    """Neither is stored yet. Raises BadTask, which names what is wrong, and NotBuilt without the image."""
    provider, options = what.get("provider", "anthropic"), dict(what.get("options") or {})
    on_help, network = what.get("on_help", OnHelp.WAIT), dict(what.get("network") or {})
    if not goal.strip() or len(goal) > LONGEST_GOAL:
        raise BadTask(f"goal: must be text of at most {LONGEST_GOAL} characters.")
    if on_help not in OnHelp.values:
        raise BadTask(f"on_help: must be one of {', '.join(OnHelp.values)}.")
    registry.read_options(provider, options)
    _check_network(network)
    known = checked(what.get("secrets") or {})
    clean = vault.redactor_for(known)
    task = Task(
        owner_id=owner.pk,
        provider=provider,
        on_help=on_help,
        goal=clean.text(goal),
        checks=clean.json(to_json(parse_checks(what.get("checks", ())))),
        limits=Limits.from_json(dict(what.get("limits") or {})).to_json(),
        options=clean.json(options),
        network=network,
        plan=Plan.from_json(dict(what.get("plan") or {})).to_json(),
        secrets=vault.seal(known.values) if known else "",
        keep_machine=what.get("keep_machine", False),
        **_begins(what.get("snapshot", ""), what.get("image", "desktop")),
    )
    return task, _attached({clean.text(name): content for name, content in (what.get("attachments") or {}).items()})


def _attached(contents: Mapping[str, Attachable]) -> list[Attachment]:
    files = [attachment(name, content) for name, content in contents.items()]
    if len(files) > MOST or len({file.name for file in files}) < len(files):
        raise BadTask(f"attachments: must be at most {MOST}, each with a name of its own.")
    return files


def store_task(task: Task, files: Sequence[Attachment]) -> None:
    task.save(force_insert=True)
    for file in files:
        file.task = task
        file.save()


def _check_network(values: Mapping[str, Any]) -> None:
    try:
        Policy(**values)
    except (TypeError, ValueError) as error:
        raise BadTask(f"network: {error}") from None


def _begins(snapshot: str, image: str) -> dict[str, str]:
    """What the machines begin from, as columns of the task."""
    if not snapshot:
        return {"image": store.find(image).name}
    row = snapshot_row(snapshot)
    return {"image": row.image, "backend": row.backend, "snapshot": row.pk}


def snapshot_row(snapshot_id: str) -> Snapshot:
    """Raises BadTask."""
    row = Snapshot.objects.filter(pk=snapshot_id).first()
    if row is None:
        raise BadTask("snapshot: there is no such snapshot any more.")
    return row
