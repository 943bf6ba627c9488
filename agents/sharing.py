"""How a trace is made safe for strangers: text by words and patterns, pictures by reading them."""

from collections.abc import Sequence
from dataclasses import replace

from sandboxes.errors import SandboxError
from traces.cleaning import Cleaner
from traces.errors import NotPossible
from traces.hiding import Hider, long_words
from traces.models import Trace
from traces.pictures import Mask, Masked
from traces.safe import Part, Redaction

from . import vault
from .errors import AgentError
from .masking import Masker
from .models import Run
from .placeholders import Secrets


def redaction_for(
    trace: Trace, words: Sequence[str] = (), *, patterns: bool = True, parts: Sequence[Part] = (), files: bool = False
) -> Redaction:
    """Hides the words, the secrets of its task, and, with `patterns`, whatever looks like an address or a key."""
    known = [*words, *known_to(trace.pk).values.values()]
    hider = Hider(known, patterns=patterns)
    mask: Mask = Masker(long_words(known), spotters=[hider.spans_in]) if known or patterns else Masked
    return Redaction(hider, mask, parts, files)


def sealed(words: Sequence[str], *, patterns: bool, parts: Sequence[Part], files: bool) -> str:
    """What a person wants to be hidden, so that it can wait for a worker: the words are secrets themselves."""
    return vault.seal(
        {"words": list(words), "patterns": patterns, "parts": [list(part) for part in parts], "files": files}
    )


def redaction_of(trace: Trace, wanted: str) -> Redaction:
    """Of what `sealed` gave. Raises NotPossible."""
    try:
        given = vault.unseal(wanted)
    except AgentError as error:
        raise NotPossible(str(error)) from None
    parts = [(x, y, width, height) for x, y, width, height in given["parts"]]
    made = redaction_for(trace, given["words"], patterns=given["patterns"], parts=parts, files=given["files"])
    return replace(made, mask=_in_plain_words(made.mask))


def _in_plain_words(mask: Mask) -> Mask:
    def masked(data: bytes, media_type: str) -> Masked:
        try:
            return mask(data, media_type)
        except SandboxError as error:
            raise NotPossible(str(error)) from error

    return masked


def cleaner_for(trace_id: str) -> Cleaner:
    """For what leaves by other ways. Its pictures were looked at before they were stored."""
    return Cleaner(vault.redactor_for(known_to(trace_id)))


def known_to(trace_id: str) -> Secrets:
    """The secrets of a trace's task; none when they cannot be read any more, for then nobody can use them either."""
    run = Run.objects.filter(trace=trace_id).select_related("task").first()
    try:
        return vault.secrets_of(run.task) if run else Secrets()
    except AgentError:
        return Secrets()
