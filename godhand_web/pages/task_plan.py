"""The part of a new task's form that says when its machine is saved, and what happens to branches that fail."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from agents.plan import MOST, Plan

USUAL = Plan()
PREFIX = "plan_"
OPEN = "every"
"""What everybody sees; the rest is behind “More about branches”."""

NUMBERS = {
    "every": "Save the machine after so many steps",
    "recover": "Begin a failed branch again, so many times",
    "patience": "End a branch after so many failed steps in a row",
    "search": "Keep so many branches going",
    "budget": "Branches in one run, at most",
}
SWITCHES = {
    "verified": "Save also where checks of a step have passed",
    "risky": "Save also before what no branch undoes",
    "approve": "Ask a person before what no branch undoes",
    "uncertain": "End a branch at a step that may not have happened",
}
UNLESS = {
    "stop": ("Let every branch come to its end", "all", "first"),
    "judge": ("Never ask the model which branch is better", False, True),
}
"""What is usual for these is no empty box: the switch says the other."""


class PlanFields(forms.Form):
    """Whatever is left out of the form is as usual."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in NUMBERS.items():
            self.fields[PREFIX + name] = forms.IntegerField(
                label=label, required=False, min_value=0, max_value=MOST[name], initial=getattr(USUAL, name)
            )
        for name, label in {**SWITCHES, **{name: label for name, (label, *_) in UNLESS.items()}}.items():
            self.fields[PREFIX + name] = forms.BooleanField(label=label, required=False)

    def plan(self) -> dict[str, Any]:
        """What of it is not usual."""
        data = {field.name: self.cleaned_data.get(PREFIX + field.name) for field in fields(Plan)}
        chosen = {name: data[name] for name in (*NUMBERS, *SWITCHES) if data[name] is not None}
        chosen |= {name: chosen_one if data[name] else usual for name, (_, chosen_one, usual) in UNLESS.items()}
        return {name: value for name, value in chosen.items() if value != getattr(USUAL, name)}

    @property
    def first_of_plan(self) -> BoundField:
        return self[PREFIX + OPEN]

    def numbers_of_plan(self) -> Iterator[BoundField]:
        return (self[PREFIX + name] for name in NUMBERS if name != OPEN)

    def switches_of_plan(self) -> Iterator[BoundField]:
        return (self[PREFIX + name] for name in (*SWITCHES, *UNLESS))

    def plan_is_unusual(self) -> bool:
        """So that nothing that counts is hidden."""
        usual = initial_of({})
        numbers = any(
            str(field.value()) not in ("None", "", str(usual[field.name])) for field in self.numbers_of_plan()
        )
        switches = any(bool(field.value()) != usual[field.name] for field in self.switches_of_plan())
        hidden = (*self.numbers_of_plan(), *self.switches_of_plan())
        return numbers or switches or any(field.errors for field in hidden)


def initial_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the form for a task's plan."""
    kept = asdict(Plan.from_json(dict(plan)))
    return {PREFIX + name: kept[name] == UNLESS[name][1] if name in UNLESS else value for name, value in kept.items()}
