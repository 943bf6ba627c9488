"""What is hidden in a copy that strangers may see: words that a person names, and whatever looks like a key.

The patterns are few and sure: they hide what is in a known form, and let a plain word that is a password through.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .redact import HIDDEN, SHORTEST, Redactor

Span = tuple[int, int]

WORDS, MAILS, KEYS = "words", "mails", "keys"

MAIL = r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[A-Za-z]{2,24}"
KEY_FORMS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]{1,16}[-_]){0,6}[A-Za-z0-9]{16,}[\w-]*",
    r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|hf|gh_share)[-_]\w[\w-]{15,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bAIza[\w-]{35}",
    r"\bxox[abeoprs]-[\w-]{10,}",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)",
    r"(?i:(?<=bearer )[\w.~+/-]{16,}=*)",
)
NAMED = re.compile(
    r"(?i)(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|token)[\w-]{0,20}"
    r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?([^\s\"',;&<>\[\]{}]{6,})"
)
PATTERNS: Mapping[str, re.Pattern[str]] = {
    KEYS: re.compile("|".join(KEY_FORMS)),
    MAILS: re.compile(MAIL),
}


class Hider(Redactor):
    """`counts` are of words, mails and keys. Words count in any case; one of fewer than six letters only as a whole."""

    def __init__(self, words: Sequence[str], *, patterns: bool = True) -> None:
        kept = [word.strip() for word in words if word.strip()]
        super().__init__(kept)
        self._words = _words_pattern(kept)
        self._patterns = patterns
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        before = self.hidden
        clean = super().text(text)
        self.counts[WORDS] += self.hidden - before
        for kind, start, end in reversed(_apart(self._found(clean))):
            clean = f"{clean[:start]}{HIDDEN}{clean[end:]}"
            self.counts[kind] += 1
            self.hidden += 1
        return clean

    def knows(self, text: str) -> bool:
        """Whether there is anything to hide. Nothing is counted."""
        known = self._pattern is not None and self._pattern.search(text) is not None
        return known or next(self._found(text), None) is not None

    def spans_in(self, text: str) -> list[Span]:
        """What looks like a key, or is one of the short words: for text that was read off a picture."""
        return [(start, end) for _, start, end in _apart(self._found(text))]

    def _found(self, text: str) -> Iterator[tuple[str, int, int]]:
        if self._words:
            yield from ((WORDS, *match.span()) for match in self._words.finditer(text))
        if self._patterns:
            for kind, pattern in PATTERNS.items():
                yield from ((kind, *match.span()) for match in pattern.finditer(text))
            yield from ((KEYS, *match.span(1)) for match in NAMED.finditer(text))


def long_words(words: Sequence[str]) -> list[str]:
    """Those that are looked for in pictures as a whole, however they were misread."""
    return [word.strip() for word in words if len(word.strip()) >= SHORTEST]


def _words_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Short ones are whole words: “Ann” is not hidden in “Annual”."""
    forms = [re.escape(word) if len(word) >= SHORTEST else rf"(?<!\w){re.escape(word)}(?!\w)" for word in words]
    return re.compile("|".join(sorted(forms, key=len, reverse=True)), re.IGNORECASE) if forms else None


def _apart(found: Iterator[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """In order, and without those that begin inside another. What was hidden already is no find."""
    kept: list[tuple[str, int, int]] = []
    for kind, start, end in sorted(found, key=lambda one: (one[1], -one[2])):
        if start < end and (not kept or start >= kept[-1][2]):
            kept.append((kind, start, end))
    return kept
