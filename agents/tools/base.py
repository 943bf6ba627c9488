"""What a model can do. A tool is one file in this folder with one subclass of Tool."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..endings import Ending
from ..errors import BadCall
from ..placeholders import Secrets
from ..providers.base import ToolSpec
from ..turns import Picture

if TYPE_CHECKING:
    from ..workplace import Workplace

TEXT_LIMIT = 30_000


@dataclass(frozen=True)
class Outcome:
    """What the model is answered. `ending` ends the branch once the answer is stored."""

    text: str = "OK"
    ok: bool = True
    picture: Picture | None = None
    ending: Ending | None = None


class Tool(ABC):
    name: ClassVar[str]
    description: ClassVar[str]
    properties: ClassVar[Mapping[str, Any]]
    required: ClassVar[tuple[str, ...]] = ()
    repeatable: ClassVar[bool] = False
    """Whether doing it again after a crash does no harm; what the guest does by operation id counts as such."""

    @abstractmethod
    def run(self, given: Mapping[str, Any], place: "Workplace") -> Outcome:
        """`given` has been checked against the schema's names and simple types.

        Raises BadCall and NotAllowed, which the model is told; SandboxError, which is the machine's fault.
        """

    def filled(self, given: Mapping[str, Any], secrets: Secrets) -> Mapping[str, Any]:
        """With the values of secrets that it names, where the tool takes them into the machine."""
        return given

    def may_repeat(self, given: Mapping[str, Any]) -> bool:
        """As `repeatable` says, unless it depends on what is asked for."""
        return self.repeatable

    def may_end(self, given: Mapping[str, Any]) -> bool:
        """Whether the branch may end with it. Such a call is repeatable."""
        return False

    def spec(self) -> ToolSpec:
        schema = {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }
        return ToolSpec(self.name, self.description, schema)

    def check(self, given: Mapping[str, Any]) -> None:
        """Raises BadCall, which names the field."""
        for name in self.required:
            if name not in given:
                raise BadCall(f"{name}: {self.name} needs it.")
        for name, value in given.items():
            if name not in self.properties:
                raise BadCall(f"{name}: {self.name} has no such field; it has {', '.join(self.properties) or 'none'}.")
            check_type(name, value, self.properties[name])


TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def check_type(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    wanted = schema["type"]
    if not isinstance(value, TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean"):
        raise BadCall(f"{name}: must be of type {wanted}.")
    if "enum" in schema and value not in schema["enum"]:
        raise BadCall(f"{name}: must be one of {', '.join(schema['enum'])}.")


def cut(text: str, limit: int = TEXT_LIMIT) -> str:
    """The beginning and the end, which matter most, with a word on what is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
