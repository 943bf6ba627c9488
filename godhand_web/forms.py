from dataclasses import fields

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from sandboxes.images import store
from sandboxes.limits import Limits


def printable(value: str) -> None:
    if not value.isprintable():
        raise ValidationError("Use letters, numbers and signs only; there is a character that cannot be shown.")


def amount(kind: type[forms.IntegerField], label: str, least: float, most: int) -> forms.IntegerField:
    """Left empty, it is the usual one."""
    wrong = dict.fromkeys(("invalid", "min_value", "max_value"), f"{label}: a number from {least} to {most}.")
    return kind(label=label, required=False, min_value=least, max_value=most, error_messages=wrong)  # type: ignore[arg-type]


class NewMachine(forms.Form):
    image = forms.ChoiceField(
        error_messages={
            "required": "Choose an image that is built.",
            "invalid_choice": "That image is not built on this host.",
        }
    )
    name = forms.CharField(
        required=False,
        max_length=60,
        validators=[printable],
        error_messages={"max_length": "Keep the name within 60 characters; this one has %(show_value)d."},
    )
    cpus = amount(forms.FloatField, "CPUs", 0.1, 64)
    memory_mib = amount(forms.IntegerField, "Memory, MiB", 256, 65_536)
    pids = amount(forms.IntegerField, "Processes", 128, 32_768)
    disk_mib = amount(forms.IntegerField, "Disk, MiB", 16, 65_536)
    wall_minutes = amount(forms.IntegerField, "Minutes on", 1, 1_000_000)
    idle_minutes = amount(forms.IntegerField, "Minutes unused", 1, 1_000_000)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choices = [(image.name, image.name) for image in store.built()]
        self.fields["image"].choices = choices  # type: ignore[attr-defined]

    def limit_fields(self) -> list[tuple[forms.BoundField, str]]:
        """Each with what it is when it is left empty."""
        usual = Limits(wall_minutes=settings.WALL_MINUTES, idle_minutes=settings.IDLE_MINUTES)
        return [(self[each.name], f"{getattr(usual, each.name) or 'any'}") for each in fields(Limits)]

    def chooses_limits(self) -> bool:
        return any(field.value() for field, _ in self.limit_fields())

    def limits(self) -> Limits | None:
        chosen = {each.name: self.cleaned_data[each.name] for each in fields(Limits)}
        given = {name: value for name, value in chosen.items() if value is not None}
        return Limits(**given) if given else None


class TakeSnapshot(forms.Form):
    label = forms.CharField(
        required=False,
        max_length=100,
        validators=[printable],
        error_messages={"max_length": "Keep the label within 100 characters; this one has %(show_value)d."},
    )


class Days(forms.Form):
    """Left empty, it is as the installation says."""

    traces = forms.IntegerField(required=False, min_value=0, max_value=36_500)
    pictures = forms.IntegerField(required=False, min_value=0, max_value=36_500)


class Preferences(forms.Form):
    theme = forms.ChoiceField(choices=[(name, name) for name in ("system", "light", "dark")])
    keys = forms.ChoiceField(choices=[("on", "on"), ("off", "off")])
    density = forms.ChoiceField(required=False, choices=[(name, name) for name in ("comfortable", "compact")])
    motion = forms.ChoiceField(required=False, choices=[(name, name) for name in ("system", "reduce")])
    notify_help = forms.BooleanField(required=False)
    notify_end = forms.BooleanField(required=False)
    steps = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    minutes = forms.FloatField(required=False, min_value=0.1, max_value=100_000)
    money = forms.FloatField(label="Dollars", required=False, min_value=0.01, max_value=100_000)
