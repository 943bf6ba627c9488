"""Writes a branch's story and keeps its conversation in step with it: what is written is what the model was told."""

import uuid
from dataclasses import asdict
from typing import Any

from sandboxes.display.screen import Box, Screen
from traces.events import Actor, Change, Fate, Finding, Outcome, Recorder, Sent

from .album import Album
from .history import Conversation, Planned
from .performing import Performed
from .turns import Reply, Result
from .verify import Check, Verdict

UNKNOWN = "Nobody knows whether this happened: work was interrupted while it was being done. Look at the screen."


class Journal:
    """Every method is stored when it returns. Raises Fenced when another has taken over the branch."""

    def __init__(self, recorder: Recorder, album: Album, talk: Conversation) -> None:
        self.recorder, self.album, self.talk = recorder, album, talk

    def say(self, actor: Actor, text: str, name: str, screen: Screen | None = None) -> None:
        """A new turn; text before the picture."""
        if screen is None:
            self.recorder.message(actor, text, turn=self.talk.replies, name=name)
            self.talk.said(text)
        else:
            picture, sha256 = self.album.show(screen)
            parts = ({"text": text}, {"picture": sha256})
            self.recorder.message(actor, text, turn=self.talk.replies, parts=parts, name=name)  # type: ignore[arg-type]
            self.talk.said(text, picture)

    def replied(self, reply: Reply) -> None:
        stored = self.recorder.reply(
            reply.raw,
            turn=self.talk.replies + 1,
            text=reply.text,
            reasoning=reply.reasoning,
            usage=asdict(reply.usage),  # type: ignore[arg-type]
            cost=reply.cost,
            provider=reply.kind,
            model=reply.model,
            calls=[
                {"id": call.id, "name": call.name, "input": dict(call.input), "toolset": call.toolset}
                for call in reply.calls
            ],
        )
        self.talk.replied(reply, stored.actions)

    def intend(self, planned: Planned, act: dict[str, Any]) -> None:
        planned.op_id = uuid.uuid4().hex
        self.recorder.intent(planned.id, planned.op_id, act)
        self.talk.steps += 1

    def close(self, planned: Planned, performed: Performed, *, shows: bool) -> None:
        """`shows`: the model sees the screen with this answer."""
        outcome, (before, after) = performed.outcome, performed.screens
        kept = self.album.keep(before)
        kept_after = self.album.keep(after) if performed.change.ratio else kept
        picture, sha256 = None, None
        if outcome.picture:
            picture, sha256 = self.album.add(outcome.picture)
        elif shows:
            picture, sha256 = self.album.show(after if performed.change.ratio else before)
        self.recorder.done(
            planned.id,
            ok=outcome.ok,
            text=outcome.text,
            sent=Sent(outcome.text, sha256, outcome.ok),
            before=kept,
            after=kept_after,
            change=Change(performed.change.ratio, [_corners(box) for box in performed.change.boxes]),
            settle_ms=performed.settle_ms,
        )
        planned.fate, planned.result = Fate.DONE, Result(planned.call, outcome.text, picture, outcome.ok)

    def refuse(self, planned: Planned, text: str, screen: Screen | None = None) -> None:
        picture, sha256 = self.album.show(screen) if screen else (None, None)
        self.recorder.refused(planned.id, text, sent=Sent(text, sha256, False))
        planned.fate, planned.result = Fate.REFUSED, Result(planned.call, text, picture, ok=False)

    def unknown(self, planned: Planned, screen: Screen) -> None:
        picture, sha256 = self.album.show(screen)
        self.recorder.uncertain(planned.id, UNKNOWN, sent=Sent(UNKNOWN, sha256, False), after=sha256)
        planned.fate, planned.result = Fate.UNCERTAIN, Result(planned.call, UNKNOWN, picture, ok=False)

    def verdict(self, verdict: Verdict, checks: tuple[Check, ...], when: str, screen: Screen) -> None:
        kinds = {check.name: check.checker.kind for check in checks}
        findings = [
            Finding(
                name,
                kinds[name],
                Outcome(one.outcome),
                one.expected,
                one.actual,
                _corners(one.region) if one.region else None,
                one.similarity,
                one.detail,
            )
            for name, one in verdict.findings.items()
        ]
        self.recorder.verify(findings, when, picture=self.album.keep(screen))


def _corners(box: Box) -> tuple[int, int, int, int]:
    return box.x, box.y, box.width, box.height
