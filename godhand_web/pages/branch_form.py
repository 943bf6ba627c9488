"""The form that begins branches: what each is told, which model drives it, and what it may use up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField
from django.http import QueryDict

from agents.branching import Way
from agents.errors import BadTask
from agents.providers import registry

from ..models import User
from .task_models import Model, Option, chosen_options, models_for

MOST_WAYS = 4
MOST_EACH = 8
LONGEST_HINT = 10_000
LONGEST_KEY = 40
LIMITS = ("steps", "minutes", "money")


@dataclass(frozen=True)
class Card:
    """A model with its fields as they are filled in now."""

    model: Model
    first: list[tuple[Option, BoundField]]
    more: list[tuple[Option, BoundField]]


class ForkForm(forms.Form):
    """Ways that are left empty are not gone, but for the first. No provider: the one that drove until here."""

    each = forms.IntegerField(
        label="Branches",
        min_value=1,
        max_value=MOST_EACH,
        initial=1,
        error_messages={
            "min_value": "There must be one at least.",
            "max_value": f"At most {MOST_EACH} at once.",
            "invalid": "Say how many, as a number.",
            "required": "Say how many.",
        },
    )
    provider = forms.CharField(required=False)
    steps = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    minutes = forms.FloatField(required=False, min_value=0.1, max_value=100_000)
    money = forms.FloatField(label="Dollars", required=False, min_value=0.01, max_value=100_000)
    key = forms.CharField(max_length=LONGEST_KEY)

    def __init__(self, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.models = [model for model in models_for(person) if not model.trouble]
        for option in (option for model in self.models for option in model.options):
            self.fields[option.field] = forms.CharField(label=option.title, required=False, initial=option.usual)

    @property
    def hints(self) -> list[str]:
        """As many as there are fields for."""
        given = self.data.getlist("hint") if isinstance(self.data, QueryDict) else []
        return [hint.strip() for hint in [*given, *[""] * MOST_WAYS][:MOST_WAYS]]

    @property
    def first_hint(self) -> str:
        return self.hints[0]

    @property
    def more_hints(self) -> list[str]:
        return self.hints[1:]

    @property
    def several(self) -> bool:
        return any(self.more_hints)

    @property
    def cards(self) -> list[Card]:
        def bound(options: Iterable[Option]) -> list[tuple[Option, BoundField]]:
            return [(option, self[option.field]) for option in options]

        return [Card(model, bound(model.first), bound(model.more)) for model in self.models]

    @property
    def general_errors(self) -> list[str]:
        own = [*LIMITS, "each", "provider"]
        named = {option.field for model in self.models for option in model.options}
        return [str(text) for name, texts in self.errors.items() if name not in {*own, *named} for text in texts]

    def clean(self) -> None:
        if any(len(hint) > LONGEST_HINT for hint in self.hints):
            self.add_error(None, f"Keep a hint within {LONGEST_HINT} characters.")
        kind = self.cleaned_data.get("provider")
        model = next((model for model in self.models if model.kind == kind), None)
        if kind and model is None:
            self.add_error("provider", "There is no such model here.")
        self.cleaned_data["model"] = self._model(model) if model else {}

    def _model(self, model: Model) -> Mapping[str, Any]:
        try:
            options = chosen_options(model, self.data)
            registry.read_options(model.kind, options)
            return {"provider": model.kind, "options": options}
        except BadTask as error:
            self.add_error("provider", str(error))
            return {}

    @property
    def ways(self) -> list[Way]:
        data = self.cleaned_data
        limits = {name: data[name] for name in LIMITS if data.get(name) is not None}
        hints = [hint for number, hint in enumerate(self.hints) if hint or not number]
        if not hints[0] and len(hints) > 1:
            hints = hints[1:]
        return [Way(hint, model=data["model"], limits=limits) for hint in hints for _ in range(data["each"])]

    def blame(self, error: Exception) -> None:
        """What is refused after all of this, at the field that it is about."""
        text = str(error)
        self.add_error(next((name for name in LIMITS if text.startswith(f"limits: {name}")), None), text)
