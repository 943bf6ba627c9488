"""The task's model as a judge: one question, pictures, no tools, an answer in JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from traces.events import Recorder

from .checkers.scene import Judge
from .errors import AgentError
from .providers.base import Provider
from .providers.retry import complete_with_patience
from .turns import Picture, Reply, Said

SYSTEM = "You answer one question about a picture, as JSON and nothing else."
ATTEMPTS = 3


def judge_by(provider: Provider, wait: Callable[[float], None], paid: Callable[[Reply], None]) -> Judge:
    """`paid` hears of every reply, whether or not it can be used."""

    def judge(question: str, pictures: Sequence[Picture]) -> Mapping[str, Any]:
        """Raises ProviderError, and AgentError for what is no JSON object: then nothing was judged."""
        asked = [Said((question, *pictures))]
        reply = complete_with_patience(provider, SYSTEM, asked, (), desktop=False, attempts=ATTEMPTS, wait=wait)
        paid(reply)
        return answer_of(reply.text)

    return judge


def record_judge(recorder: Recorder, reply: Reply) -> None:
    usage = asdict(reply.usage)
    recorder.judged(usage=usage, cost=reply.cost, provider=reply.kind, model=reply.model)  # type: ignore[arg-type]


def answer_of(text: str) -> Mapping[str, Any]:
    """The one JSON object in it, also when the model put it into a fence."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        answer = json.loads(bare)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise AgentError("The judge did not answer in JSON.")
    return answer
