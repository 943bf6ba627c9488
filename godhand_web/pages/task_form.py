"""The form of a new task. What it says is wrong comes from whoever will have to understand it, all at once."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from agents import schedules
from agents.api import LONGEST_GOAL, MOST_RUNS
from agents.budget import Limits
from agents.errors import BadTask
from agents.models import OnHelp
from agents.providers import registry
from agents.timing import rule as timing_rule
from agents.verify import parse_checks
from sandboxes.images import store
from sandboxes.network import Policy

from ..access import visible_snapshots
from ..models import User
from .task_models import Model, chosen_options, models_for, usual
from .task_plan import PlanFields
from .task_start import NoStart, step_of

NETWORKS = (
    ("off", "Off", "Reaches nobody"),
    ("allowlist", "Allowlist", "Only what you list"),
    ("open", "Open", "The Internet, nothing private"),
)
SNIPPETS = {
    "A file is there": 'kind = "file_exists"\npath = "report.md"',
    "A file says": 'kind = "file_contains"\npath = "report.md"\ntext = "Total"',
    "A workbook has": 'kind = "file_matches"\npath = "report.xlsx"\ncells = { "Sheet1!B2" = 42 }\ncharts = 1',
    "The screen shows": 'kind = "screen_text"\ntext = "Saved"',
    "A window is open": 'kind = "window_open"\ntitle = "report"',
    "A command succeeds": 'kind = "command_succeeds"\nbash = "test -s report.md"',
}
"""Checks to fill in; each is the body of a [[check]] table."""

USUAL = Limits()
PLACES = (
    ("goal:", "goal"),
    ("runs:", "runs"),
    ("limits: steps", "steps"),
    ("limits: minutes", "minutes"),
    ("limits: money", "money"),
    ("network:", "allow"),
    ("attachments:", "attachments"),
    ("A file cannot", "attachments"),
    ("snapshot:", "start"),
    ("on_help:", "on_help"),
    ("check", "checks"),
    ("secrets:", "secrets"),
    ("schedule:", "when"),
    ("zone:", "zone"),
)


OWN_WORDS = ("secrets", "when", "zone")


class NewTask(PlanFields):
    goal = forms.CharField(
        label="Goal",
        max_length=LONGEST_GOAL,
        error_messages={
            "required": "Say what is to be done.",
            "max_length": f"Keep it within {LONGEST_GOAL} characters; this has %(show_value)d.",
        },
    )
    start = forms.CharField(label="Start from", error_messages={"required": "Choose what the machine starts from."})
    provider = forms.CharField(label="Model", error_messages={"required": "Choose a model."})
    steps = forms.IntegerField(min_value=1, max_value=100_000, initial=USUAL.steps)
    minutes = forms.FloatField(min_value=0.1, max_value=100_000, initial=int(USUAL.minutes))
    money = forms.FloatField(label="Dollars", min_value=0.01, max_value=100_000, initial=int(USUAL.money))
    runs = forms.IntegerField(min_value=1, max_value=MOST_RUNS, initial=1)
    network = forms.ChoiceField(choices=[(mode, title) for mode, title, _ in NETWORKS], initial="off")
    allow = forms.CharField(label="Allowlist", required=False, max_length=10_000)
    on_help = forms.ChoiceField(label="When the agent needs a person", choices=OnHelp.choices, initial=OnHelp.WAIT)
    checks = forms.CharField(required=False, max_length=100_000, strip=False)
    attachments = forms.Field(label="Files", required=False)
    keep_machine = forms.BooleanField(required=False)
    step_link = forms.CharField(label="Step of a trace", required=False, max_length=500)
    secrets = forms.Field(required=False)
    timing = forms.ChoiceField(choices=[("now", "Now"), ("schedule", "On a schedule")], required=False, initial="now")
    when = forms.CharField(required=False, max_length=timing_rule.LONGEST, strip=False)
    zone = forms.CharField(label="Time zone", required=False, max_length=60)
    catch_up = forms.BooleanField(required=False)
    schedule = forms.CharField(required=False, max_length=40)

    def __init__(self, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person
        self.models = models_for(person)
        self.fields["provider"].initial = usual(self.models)
        for option in (option for model in self.models for option in model.options):
            self.fields[option.field] = forms.CharField(label=option.title, required=False, initial=option.usual)

    def clean_start(self) -> dict[str, str]:
        what, _, name = self.cleaned_data["start"].partition(":")
        if what == "snapshot" and visible_snapshots(self.person).filter(pk=name).exists():
            return {"snapshot": name}
        if what == "image" and name in {image.name for image in store.built()}:
            return {"image": name}
        if what == "step":
            return self._from_step()
        raise ValidationError("That is not there any more; choose something else to start from.")

    def _from_step(self) -> dict[str, str]:
        try:
            snapshot, _ = step_of(self.person, self.data.get("step_link", ""))
        except NoStart as error:
            self.add_error("step_link", str(error))
            return {}
        return {"snapshot": snapshot.pk}

    def clean_when(self) -> str:
        """Only where it counts: what was typed before the task was to start at once is nobody's mistake."""
        text: str = self.cleaned_data["when"]
        if self.data.get("timing") == "schedule":
            try:
                schedules.understood(text, self.data.get("zone", ""))
            except BadTask as error:
                self.blame(error)
        return text

    def clean_checks(self) -> str:
        text: str = self.cleaned_data["checks"]
        try:
            parse_checks(text)
        except BadTask as error:
            raise ValidationError(str(error)) from None
        return text

    def clean(self) -> None:
        self.cleaned_data["policy"] = self._policy()
        model = next((model for model in self.models if model.kind == self.cleaned_data.get("provider")), None)
        if model is None or model.trouble:
            self.add_error("provider", model.trouble if model else "There is no such model here.")
        else:
            self._read_options(model)

    def _policy(self) -> dict[str, Any]:
        mode = self.cleaned_data.get("network", "off")
        allow = self.cleaned_data.get("allow", "").replace(",", " ").split() if mode == "allowlist" else []
        if mode == "allowlist" and not allow:
            self.add_error("allow", "List at least one name or address, or turn the network off.")
        try:
            Policy(mode, allow)  # type: ignore[arg-type]
        except ValueError as error:
            self.add_error("allow", str(error))
        return {"mode": mode, "allow": allow} if allow else {"mode": mode}

    def _read_options(self, model: Model) -> None:
        try:
            options = chosen_options(model, self.data)
            registry.read_options(model.kind, options)
            self.cleaned_data["options"] = options
        except BadTask as error:
            self.add_error(_option_named(model, str(error)), str(error))

    def blame(self, error: Exception) -> None:
        """What is refused after all of this, at the field that it is about."""
        text = str(error)
        start, found = next((each for each in PLACES if text.lower().startswith(each[0].lower())), ("", None))
        told = text.removeprefix(start).strip() if found in OWN_WORDS else text
        self.add_error(found, told[:1].upper() + told[1:])

    @property
    def recurs(self) -> bool:
        return self.cleaned_data.get("timing") == "schedule"

    def call(self) -> dict[str, Any]:
        """The arguments of `agents.api.submit`, but for the owner and the attachments; what is usual is left out."""
        data = self.cleaned_data
        limits = {name: data[name] for name in ("steps", "minutes", "money")}
        given = {
            "goal": data["goal"],
            **data["start"],
            "provider": data["provider"],
            "options": data["options"],
            "checks": data["checks"].strip(),
            "limits": {name: value for name, value in limits.items() if value != getattr(USUAL, name)},
            "network": {} if data["policy"] == {"mode": "off"} else data["policy"],
            "on_help": data["on_help"],
            "runs": data["runs"],
            "keep_machine": data["keep_machine"],
            "plan": self.plan(),
        }
        usually: Mapping[str, Any] = {"on_help": OnHelp.WAIT, "runs": 1}
        return {name: value for name, value in given.items() if value and value != usually.get(name)}


def _option_named(model: Model, text: str) -> str:
    """The field of the option that the sentence begins with, else the one that matters most."""
    words = text.lower()
    named = (option for option in model.options if words.startswith((option.title.lower(), f"{option.name}:")))
    return next(named, model.first[0]).field
