"""Providers translate, nothing else: a conversation into one request, one response into a reply.

A provider is one file in this folder with one subclass of Provider, named after its kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..coords import PictureLimits, Space
from ..turns import Reply, Turn


@dataclass(frozen=True)
class ToolSpec:
    """What a model is told of a tool that GodHand itself defines; `schema` is JSON Schema of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Provider(ABC):
    kind: ClassVar[str]
    label: ClassVar[str]
    key_env: ClassVar[str] = ""
    """The variable that holds the key; empty where none is needed."""

    @classmethod
    def suggestions(cls, option: str) -> list[str]:
        """Values of an option that are known to work, for menus. Others may work as well."""
        return []

    model: str

    @abstractmethod
    def space(self) -> Space:
        """How the model counts coordinates."""

    @abstractmethod
    def limits(self) -> PictureLimits:
        """The pictures its service accepts."""

    @abstractmethod
    def complete(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], *, desktop: bool = True) -> Reply:
        """One reply. The desktop is among the tools unless `desktop` says otherwise, and is not in `tools`.

        `turns` begins with Said; every Reply with calls is followed by Answered. A Reply of the same kind is sent back
        from its `raw`, byte for byte; one of another kind is told in this vendor's words.
        One attempt only. Raises ProviderError, whose text never holds a key.
        """
