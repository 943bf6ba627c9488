"""What a person says in the dialog of a link: which part of a trace, what to hide in it, for how long."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from traces import sizes
from traces.errors import NotPossible
from traces.export.base import Scope
from traces.models import Trace
from traces.safe import Part

MOST_WORDS = 200
MOST_PARTS = 50
LIFETIMES = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}


class What(forms.Form):
    """`screen` is the size of the pictures, in whose pixels parts are named. Steps are counted as pages do."""

    what = forms.ChoiceField(
        label="What to show", choices=[(name, name) for name in ("all", "branch", "range", "live")]
    )
    branch = forms.ChoiceField(required=False)
    first = forms.IntegerField(label="From step", required=False, min_value=1)
    last = forms.IntegerField(label="To step", required=False, min_value=1)
    words = forms.CharField(required=False, max_length=20_000)
    patterns = forms.BooleanField(required=False)
    parts = forms.CharField(label="Rectangles", required=False, max_length=5_000)
    downloads = forms.BooleanField(required=False)

    def __init__(self, data: Any, trace: Trace, branches: Sequence[str], screen: tuple[int, int]) -> None:
        super().__init__(data)
        self.trace, self.screen, self.scope = trace, screen, Scope()
        self.fields["branch"].choices = [(name, name) for name in branches]  # type: ignore[attr-defined]

    def clean_what(self) -> str:
        chosen: str = self.cleaned_data["what"]
        if chosen == "live" and self.trace.ended_at is not None:
            raise ValidationError("The run has ended, so there is nothing live to show.")
        return chosen

    def clean_words(self) -> list[str]:
        words = [line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip()]
        if len(words) > MOST_WORDS:
            raise ValidationError(f"Name at most {MOST_WORDS} words.")
        return list(dict.fromkeys(words))

    def clean_parts(self) -> list[Part]:
        lines = [line for line in self.cleaned_data["parts"].splitlines() if line.strip()]
        if len(lines) > MOST_PARTS:
            raise ValidationError(f"Name at most {MOST_PARTS} rectangles.")
        return [self._part(line) for line in lines]

    def clean(self) -> None:
        said = self.cleaned_data
        if said.get("what") not in ("branch", "range"):
            return
        if not said.get("branch"):
            self.add_error("branch", "Choose a branch.")
        else:
            try:
                self.scope = sizes.scope_of(self.trace, self.steps)
            except NotPossible as error:
                self.add_error("last", str(error))

    def _part(self, line: str) -> Part:
        numbers = line.replace(",", " ").split()
        if len(numbers) != 4 or not all(number.isascii() and number.isdigit() for number in numbers):
            raise ValidationError("A rectangle is four whole numbers: x, y, width and height.")
        x, y, width, height = (int(number) for number in numbers)
        wide, high = self.screen
        if not width or not height or x + width > wide or y + height > high:
            raise ValidationError(f"The rectangle {line.strip()} does not fit on a screen of {wide}×{high} pixels.")
        return x / wide, y / high, width / wide, height / high

    @property
    def steps(self) -> sizes.Part:
        said = self.cleaned_data
        some = said["what"] == "range"
        return sizes.Part(said["branch"], said.get("first") if some else None, said.get("last") if some else None)


class ForHowLong(forms.Form):
    lifetime = forms.ChoiceField(label="Expires in", choices=[(name, name) for name in (*LIFETIMES, "date")])
    until = forms.DateField(required=False)
    most_views = forms.IntegerField(label="Visit limit", required=False, min_value=1, max_value=1_000_000)

    def clean(self) -> None:
        said = self.cleaned_data
        if said.get("lifetime") == "date" and not (said.get("until") and self.expires_at > timezone.now()):
            self.add_error("until", "Choose a day from today on.")

    @property
    def expires_at(self) -> datetime:
        """The end of the day that was chosen."""
        said = self.cleaned_data
        if said["lifetime"] == "date":
            return datetime.combine(said["until"], time.max, UTC)
        return timezone.now() + LIFETIMES[said["lifetime"]]
