from django import forms
from django.core.exceptions import ValidationError

from sandboxes.images import store


def printable(value: str) -> None:
    if not value.isprintable():
        raise ValidationError("Use letters, numbers and signs only; there is a character that cannot be shown.")


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

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choices = [(image.name, image.name) for image in store.built()]
        self.fields["image"].choices = choices  # type: ignore[attr-defined]


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
    money = forms.FloatField(required=False, min_value=0.01, max_value=100_000)
