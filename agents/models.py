"""Tasks, and the attempts at them. Only `lifecycle.py` changes the state of a branch.

    queued ─▶ provisioning ─▶ running ─┬─▶ succeeded    the agent says it is done, and no check says otherwise
                                ▲      ├─▶ failed       the checks say no, it gave up, or a limit was reached
                                │      ├─▶ cancelled    somebody stopped it
                                │      ├─▶ infra_error  the machine or the model's service failed, not the agent
                                │      └─▶ paused, needs_help ◀─▶ human_control
                                └───────────────┘

A person takes over what is under way or rests, and leaves it resting; what continues at once rests for no time at all.

Three facts are kept apart: that it ended (the state), what the agent claimed, and what the checks found.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from sandboxes.ids import new_id
from sandboxes.models import Machine, Snapshot
from traces.models import Trace

from . import standing as standing
from .needed import kept_while_needed
from .states import DRIVEN as DRIVEN
from .states import ENDED as ENDED
from .states import RESTING as RESTING
from .states import OnHelp as OnHelp
from .states import State as State
from .states import Wish as Wish


class Task(models.Model):
    """Goal, image, attachments, checks and limits. `provider` and `options` say which model works on it.

    `snapshot` is the id of the one that machines begin from, instead of the image as it was built.
    `secrets` is sealed by `vault.py`; in every other column a secret is written by its name.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tasks")
    goal = models.TextField()
    image = models.CharField(max_length=40)
    backend = models.CharField(max_length=20, default="gvisor")
    provider = models.CharField(max_length=20)
    options = models.JSONField(default=dict)
    checks = models.JSONField(default=list)
    limits = models.JSONField(default=dict)
    network = models.JSONField(default=dict)
    secrets = models.TextField(blank=True)
    snapshot = models.CharField(max_length=12, blank=True)
    on_help = models.CharField(max_length=10, choices=OnHelp.choices, default=OnHelp.WAIT)
    plan = models.JSONField(default=dict)
    keep_machine = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Task"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=["owner", "-created_at"]),)

    def __str__(self) -> str:
        return self.goal[:80]


class Attachment(models.Model):
    """A file that the task begins with: in the machine it is in the home folder, under its name."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=100)
    size = models.BigIntegerField()

    objects: ClassVar[models.Manager["Attachment"]] = models.Manager()

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["task", "name"], name="agents_one_attachment_per_name"),)

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One attempt at a task. Its state is that of the branch that counts: the chosen one, else the first.

    `choice` tells how it was chosen, and among whom; `chosen_by` is a person who knew better. While branches are under
    way the run is, too. What is in its `plan` comes before that of the task.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="runs")
    trace = models.OneToOneField(Trace, on_delete=models.PROTECT, related_name="run")
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    chosen = models.ForeignKey("Branch", null=True, on_delete=models.SET_NULL, related_name="+")
    choice = models.JSONField(default=dict)
    chosen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    choosing_until = models.DateTimeField(default=timezone.now)
    plan = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Run"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=["state"]),)

    def __str__(self) -> str:
        return f"{self.task} ({self.state})"

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Branch(models.Model):
    """A path of steps with a machine of its own, driven by whoever holds its lease.

    `fence` grows each time somebody takes the lease; every write names it, and a stale writer is refused. `forked_at`
    is the event after which it begins, on another branch. `model` and `limits` replace those of the task where they are
    not empty; `share` is its part of them beside others. One that `recovers` another tries again what that one failed
    at; `key` names the wish for it: a second click makes no second one. `allowed` is a person's word on `asks_for`;
    `paused_by` is whoever was the last to wish for a pause.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="branches")
    name = models.CharField(max_length=40, default="main")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    forked_at = models.BigIntegerField(null=True)
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=kept_while_needed, related_name="branches")
    hint = models.TextField(blank=True)
    model = models.JSONField(default=dict)
    limits = models.JSONField(default=dict)
    share = models.JSONField(default=dict)
    recovers = models.OneToOneField("self", null=True, on_delete=models.SET_NULL, related_name="recovery")
    key = models.CharField(max_length=80, blank=True)
    machine = models.ForeignKey(Machine, null=True, on_delete=models.SET_NULL, related_name="branches")
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    state_since = models.DateTimeField(default=timezone.now)
    detail = models.TextField(blank=True)
    question = models.TextField(blank=True)
    asks_for = models.BigIntegerField(null=True)
    allowed = models.BooleanField(null=True)
    claim = models.TextField(blank=True)
    verdict: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    wish = models.CharField(max_length=10, choices=Wish.choices, blank=True, default=Wish.NONE)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    worker = models.CharField(max_length=100, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Branch"]] = models.Manager()

    class Meta:
        ordering = ("created_at",)
        indexes = (models.Index(fields=["state", "lease_until"]),)
        constraints = (models.UniqueConstraint(fields=["run", "name"], name="agents_one_branch_per_name"),)

    def __str__(self) -> str:
        return f"{self.run_id}/{self.name}"

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Note(models.Model):
    """A word of a person to the agent: it becomes a new turn, once."""

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    heard = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Note"]] = models.Manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.text[:80]


class Takeover(models.Model):
    """A person's time with a branch's machine. Whoever drives the branch next tells of it, once, in the trace.

    `head` is the event before it and `snapshot` the machine then: together, where a branch that leaves it out begins.
    One that is `private` is not recorded.
    """

    class Choice(models.TextChoices):
        NONE = ""
        CONTINUE = "continue"
        BRANCH = "branch"
        STOP = "stop"
        EXPIRED = "expired"
        WITHDRAWN = "withdrawn"

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="takeovers")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    began_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    head = models.BigIntegerField(null=True)
    snapshot = models.ForeignKey(Snapshot, null=True, on_delete=models.SET_NULL, related_name="+")
    saving_since = models.DateTimeField(null=True, blank=True)
    choice = models.CharField(max_length=10, choices=Choice.choices, blank=True, default=Choice.NONE)
    note = models.TextField(blank=True)
    private = models.BooleanField(default=True)
    told = models.BooleanField(default=False)

    objects: ClassVar[models.Manager["Takeover"]] = models.Manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=["branch"], condition=models.Q(ended_at__isnull=True), name="agents_one_takeover_at_a_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.branch} by {self.person}"


class Document(models.Model):
    """A file that the agent delivered. The newest of a path counts."""

    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="documents")
    name = models.CharField(max_length=200)
    title = models.CharField(max_length=200, blank=True)
    path = models.TextField()
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=100)
    size = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Document"]] = models.Manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.title or self.name
