"""What can go wrong around a model. Every message is a sentence that may be shown to a person.

AgentError
├── ProviderError    the model's service did not give a reply; `permanent` says that trying again makes no sense
├── BadCall          the model asked for something that is no call; told to the model, and the run goes on
├── BadTask          a task, check or script that cannot be understood; names the place
└── NotAllowed       the task's policy forbids it; told to the model, and the trace says so
"""


class AgentError(Exception):
    pass


class ProviderError(AgentError):
    """`retry_after` is in seconds, where the service named a time."""

    def __init__(self, message: str, *, permanent: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_after = retry_after


class BadCall(AgentError):
    pass


class BadTask(AgentError):
    pass


class NotAllowed(AgentError):
    pass
