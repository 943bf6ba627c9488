"""What a branch can be, and what people can want of it. `models.py` draws how one becomes the other."""

from django.db import models


class State(models.TextChoices):
    QUEUED = "queued"
    PROVISIONING = "provisioning"
    RUNNING = "running"
    PAUSED = "paused"
    NEEDS_HELP = "needs_help"
    HUMAN_CONTROL = "human_control"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INFRA_ERROR = "infra_error"


DRIVEN = (State.QUEUED, State.PROVISIONING, State.RUNNING)
RESTING = (State.PAUSED, State.NEEDS_HELP)
ENDED = (State.SUCCEEDED, State.FAILED, State.CANCELLED, State.INFRA_ERROR)


class Wish(models.TextChoices):
    """What somebody wants of a branch; whoever drives it looks before each request and each action."""

    NONE = ""
    PAUSE = "pause"
    YIELD = "yield"
    CANCEL = "cancel"


STEPWISE = "stepwise"
"""A wish of one more action: the one that was planned when it is resumed. It rests again before the next."""


class OnHelp(models.TextChoices):
    """What becomes of a run whose agent asks for a person."""

    WAIT = "wait", "Wait for an answer"
    CONTINUE = "continue", "Go on without one"
    STOP = "stop", "End the run"
