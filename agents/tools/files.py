"""Files of the machine: seen, made, edited and listed without a shell's quoting."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sandboxes.guest.client import Guest

from ..errors import BadCall
from ..placeholders import Secrets
from ..workplace import Workplace
from .base import Outcome, Tool, cut

MOST_BYTES = 10 << 20


class Files(Tool):
    name: ClassVar[str] = "files"
    description: ClassVar[str] = (
        "Work with text files in the machine. `view` shows a file with line numbers, or the lines from..to; `create` "
        "writes a whole file and makes its folders; `edit` replaces `old`, which must occur exactly once, with `new`; "
        "`list` shows a folder. A path that does not begin with / is below the home folder."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "verb": {"type": "string", "enum": ["view", "create", "edit", "list"]},
        "path": {"type": "string"},
        "content": {"type": "string", "description": "create: the whole text"},
        "old": {"type": "string"},
        "new": {"type": "string"},
        "first_line": {"type": "integer"},
        "last_line": {"type": "integer"},
    }
    required: ClassVar[tuple[str, ...]] = ("verb", "path")
    repeatable: ClassVar[bool] = True

    def filled(self, given: Mapping[str, Any], secrets: Secrets) -> Mapping[str, Any]:
        return {name: secrets.fill(value) for name, value in given.items()}

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        verbs = {"view": self._view, "create": self._create, "edit": self._edit, "list": self._list}
        try:
            with place.guest() as guest:
                return Outcome(verbs[given["verb"]](guest, given, place.doing))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
            return Outcome(f"{given['path']}: {error.strerror or error}", ok=False)

    def _view(self, guest: Guest, given: Mapping[str, Any], _: str) -> str:
        lines = self._text(guest, given["path"]).splitlines()
        first = max(1, given.get("first_line", 1))
        chosen = lines[first - 1 : given.get("last_line", len(lines))]
        return cut("\n".join(f"{number:6}  {line}" for number, line in enumerate(chosen, first))) or "(empty)"

    def _create(self, guest: Guest, given: Mapping[str, Any], doing: str) -> str:
        if "content" not in given:
            raise BadCall("content: create needs it.")
        guest.write_file(given["path"], _bytes("content", given["content"]), op_id=doing or None)
        return f"Wrote {len(given['content'])} characters."

    def _edit(self, guest: Guest, given: Mapping[str, Any], doing: str) -> str:
        if not given.get("old") or "new" not in given:
            raise BadCall("old and new: edit needs both.")
        text = self._text_before(guest, given["path"], doing)
        count = text.count(given["old"])
        if count != 1:
            raise BadCall(f"old: occurs {count} times in {given['path']}, and must occur once.")
        guest.write_file(given["path"], _bytes("new", text.replace(given["old"], given["new"])), op_id=doing or None)
        return "Replaced it."

    def _text_before(self, guest: Guest, path: str, doing: str) -> str:
        """As it was when this was tried first, for its repetition would find it edited."""
        self._text(guest, path)
        op_id = f"{doing} before" if doing else None
        return guest.exec(["cat", "--", path], output_limit=MOST_BYTES, op_id=op_id).stdout.decode()

    def _list(self, guest: Guest, given: Mapping[str, Any], _: str) -> str:
        entries = sorted(guest.list_dir(given["path"]), key=lambda entry: entry.name)
        return cut("\n".join(f"{entry.kind:9} {entry.size:>12}  {entry.name!r}" for entry in entries)) or "(empty)"

    def _text(self, guest: Guest, path: str) -> str:
        try:
            return guest.read_file(path, limit=MOST_BYTES).decode()
        except UnicodeDecodeError:
            raise BadCall(f"{path}: is no text; use bash to look into it.") from None


def _bytes(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadCall(f"{name}: character {error.start} is half of one; write whole characters.") from None
