"""Which models can be used here, what each of them can be told, and whether its service answers."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from agents import model_keys
from agents.errors import AgentError, BadTask
from agents.providers import registry
from agents.providers.base import Provider
from agents.turns import Said

from ..access import Person, admin_or_404, maker_or_403, may_name_services

Widget = Literal["text", "area", "number", "choice", "switch"]
ADDRESS = "base_url"
NOT_YOURS = "It needs an address, and only staff may name one: a key would be sent there."
ONE_WORD = "Answer with the one word OK."
PATIENCE = 30.0


@dataclass(frozen=True)
class Option:
    """A field of a provider's Options as a form shows it. Left empty it is the default, unless it is `needed`."""

    kind: str
    name: str
    widget: Widget
    default: Any
    needed: bool
    choices: tuple[str, ...] = ()
    whole: bool = False

    @property
    def field(self) -> str:
        return f"{self.kind}-{self.name}"

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()

    def read(self, text: str) -> Any:
        """As the Options want it. Raises BadTask."""
        if self.widget == "switch":
            return bool(text)
        if self.widget != "number":
            return text
        try:
            value = int(text) if self.whole else float(text)
            if math.isfinite(value):
                return value
        except (ValueError, OverflowError):
            pass
        number = "a whole number" if self.whole else "a number"
        raise BadTask(f"{self.title} must be {number}, and was “{text[:40]}”.")

    @property
    def usual(self) -> str:
        """What stands in the field at first."""
        if self.default in (MISSING, None):
            return self.choices[0] if self.needed and self.choices else ""
        return f"{self.default:g}" if self.is_float else str(self.default)

    @property
    def is_float(self) -> bool:
        return self.widget == "number" and not self.whole


@dataclass(frozen=True)
class Model:
    """`trouble` says why it cannot be chosen. The first options are those that matter most."""

    kind: str
    label: str
    key_env: str
    trouble: str
    first: tuple[Option, ...]
    more: tuple[Option, ...]

    @property
    def options(self) -> tuple[Option, ...]:
        return self.first + self.more


def models_for(person: Person) -> list[Model]:
    """Those that can be used come first."""
    found = [_model(kind, made, person) for kind, made in registry.kinds().items()]
    return sorted(found, key=lambda model: (bool(model.trouble), not model.key_env))


def usual(models: list[Model]) -> str:
    return models[0].kind


def chosen_options(model: Model, given: Mapping[str, str]) -> dict[str, Any]:
    """What differs from the defaults. Raises BadTask, which names the option."""
    found = {}
    for option in model.options:
        text = given.get(option.field, "").strip()
        value = option.read(text) if text or option.widget == "switch" else option.default
        if value is MISSING:
            raise BadTask(f"{option.title}: {model.label} needs it.")
        if value != option.default:
            found[option.name] = value
    return found


def _model(kind: str, made: type[Provider], person: Person) -> Model:
    options = tuple(_options(kind, made, person))
    first = tuple(option for number, option in enumerate(options) if option.needed or not number)
    trouble = registry.trouble(kind, model_keys.of)
    needed = {field.name for field in fields(made.Options) if _is_needed(field)}  # type: ignore[attr-defined]
    if not trouble and needed - {option.name for option in options}:
        trouble = NOT_YOURS
    return Model(kind, made.label, made.key_env, trouble, first, tuple(one for one in options if one not in first))


def _options(kind: str, made: type[Provider], person: Person) -> Iterator[Option]:
    """Those that a form can ask for; the others are for Python."""
    hints = get_type_hints(made.Options)  # type: ignore[attr-defined]
    for field in fields(made.Options):  # type: ignore[attr-defined]
        shape = _widget(hints[field.name])
        if shape and (field.name != ADDRESS or may_name_services(person)):
            widget, choices = shape
            suggested = choices or tuple(made.suggestions(field.name))
            whole = hints[field.name] is int
            yield Option(kind, field.name, widget, field.default, _is_needed(field), suggested, whole)


def _widget(hint: Any) -> tuple[Widget, tuple[str, ...]] | None:
    if get_origin(hint) is Literal:
        return "choice", get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        return ("area", ()) if Path in parts else _widget(parts[0]) if len(parts) == 1 else None
    simple: dict[Any, Widget] = {str: "text", int: "number", float: "number", bool: "switch"}
    return (simple[hint], ()) if hint in simple else None


def _is_needed(field: "Field[Any]") -> bool:
    return field.default is MISSING


@require_POST
def key(request: HttpRequest, kind: str) -> HttpResponse:
    """Kept or forgotten. It goes one way: no page ever shows it."""
    person = admin_or_404(request.user)
    made = registry.kinds().get(kind)
    try:
        if made is None or not made.key_env:
            raise BadTask("There is no model with such a key.")
        if "forget" in request.POST:
            model_keys.forget(made.key_env)
            messages.success(request, f"The key of {made.label} is forgotten.")
        else:
            model_keys.keep(made.key_env, request.POST.get("key", ""), person)
            messages.success(request, f"The key of {made.label} is kept, sealed. Test it to see that it works.")
    except BadTask as error:
        messages.error(request, str(error))
    return redirect("settings")


@require_POST
def test(request: HttpRequest, kind: str) -> HttpResponse:
    """One tiny question through the provider, at the installation's expense; its answer is shown as it is."""
    person = maker_or_403(request.user)
    model = next((model for model in models_for(person) if model.kind == kind), None)
    try:
        if model is None or model.trouble:
            raise BadTask(model.trouble if model else f"There is no provider “{kind[:40]}”.")
        options = chosen_options(model, request.POST.dict())
        limit = {"timeout": PATIENCE} if "timeout" in {option.name for option in model.options} else {}
        made = registry.make(kind, registry.read_options(kind, {**options, **limit}), model_keys.of)
        reply = made.complete("", [Said((ONE_WORD,))], (), desktop=False)
    except AgentError as error:
        messages.error(request, str(error))
    else:
        words = " ".join(reply.text.split())[:200] or "nothing, but it answered"
        messages.success(request, f"{made.model} says: {words}")
    return redirect("settings")
