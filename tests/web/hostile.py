"""A trace that carries hostile texts wherever it carries a text at all."""

import io
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.utils import timezone
from PIL import Image

from godhand_web.models import User
from traces import jobs, lifecycle, shares
from traces.doers import WORK
from traces.events import Actor, Change, Finding, Kind, Outcome, Recorder, Sent
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Event, Job, JobState, Remark, ScreenText, Share, Trace
from traces.payloads import CallData, EventId, Sha256, UsageData
from traces.pictures import Masked
from traces.queries import head_of
from traces.recorder import DatabaseRecorder
from traces.safe import Redaction

from .payloads import HALF_A_PAIR, PAYLOADS

USAGE: UsageData = {"input": 1000, "output": 100, "cache_read": 10, "cache_write": 0}


def groups(size: int = 11) -> Iterator[Sequence[str]]:
    yield from (PAYLOADS[at : at + size] for at in range(0, len(PAYLOADS), size))


def picture(recorder: Recorder, shade: int) -> Sha256:
    out = io.BytesIO()
    Image.new("RGB", (32, 20), (shade, 120, 160)).save(out, "WEBP", method=0)
    return recorder.picture(out.getvalue(), "image/webp", 32, 20)


@transaction.atomic
def hostile_trace(owner: User) -> Trace:
    """Every payload in every long text; in short ones, each of them somewhere. Two branches, both ended."""
    trace = begin(owner)
    branches = PAYLOADS[16], PAYLOADS[51]
    main = DatabaseRecorder(trace, branches[0], lambda: None, None)
    main.message(Actor.HUMAN, "\n".join(PAYLOADS), turn=0, name="goal")
    fork = None
    for turn, group in enumerate(groups(), 1):
        one_turn(main, turn, group)
        fork = fork or main.head
    other = DatabaseRecorder(trace, branches[1], lambda: None, fork)
    other.message(Actor.SYSTEM, "\n".join(PAYLOADS), turn=1, name="hint")
    one_turn(other, 2, PAYLOADS[:11])
    handed_over(other)
    remarks_and_screen_text(trace, owner)
    lifecycle.mark(trace.pk, "failed", ended=True)
    return trace


def begin(owner: User) -> Trace:
    meta = {"goal": "\n".join(PAYLOADS), "model": PAYLOADS[0], "provider": PAYLOADS[16], "image": PAYLOADS[51]}
    meta |= {"task": "x", "backend": PAYLOADS[52], PAYLOADS[53]: PAYLOADS[20]}
    return lifecycle.begin(owner, title="".join(PAYLOADS[at] for at in (6, 11, 16, 51, 52)), meta=meta)


def begin_live(owner: User) -> Trace:
    """One that goes on."""
    trace = begin(owner)
    recorder = DatabaseRecorder(trace, "main", lambda: None, None)
    recorder.message(Actor.HUMAN, PAYLOADS[0], turn=0, name="goal")
    one_turn(recorder, 1, PAYLOADS[:11])
    lifecycle.mark(trace.pk, "running")
    return trace


def go_on(trace_id: str) -> None:
    trace = Trace.objects.get(pk=trace_id)
    recorder = DatabaseRecorder(trace, "main", lambda: None, head_of(trace_id, "main"))
    one_turn(recorder, 2, PAYLOADS[11:22])


def linked(trace: Trace) -> tuple[Share, str]:
    share = shares.draft(trace.owner, trace, Scope(), downloads=True)
    shares.fill(share, Redaction(Hider([]), Masked, files=True))
    token = shares.issue(share, timezone.now() + timedelta(days=1))
    assert token is not None
    return share, token


def exported(trace_id: str, kind: str) -> Path:
    trace = Trace.objects.get(pk=trace_id)
    return jobs.results(carried_out(jobs.request(trace.owner, kind, trace=trace)))[0]


def imported(owner: User, bundle: Path) -> str:
    """The trace that came of it. The file's name is hostile too."""
    with bundle.open("rb") as file:
        return carried_out(jobs.request_import(owner, file, f"{PAYLOADS[16]}.zip")).result


def carried_out(job: Job) -> Job:
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.detail
    return job


def one_turn(recorder: Recorder, turn: int, group: Sequence[str]) -> None:
    text = "\n".join((*group, HALF_A_PAIR))
    calls: list[CallData] = [
        {"id": f"c{at}", "name": name, "input": given, "toolset": toolset}
        for at, (name, given, toolset) in enumerate(
            (
                ("bash", {"command": text}, group[0]),
                ("files", {"verb": text, "path": text, group[1]: [text, {group[2]: text}]}, "files"),
                ("type", {"text": text}, "computer"),
                (group[3][:100], {"anything": text}, group[4]),
                ("done", {"claim": text}, "machine"),
                ("request_human", {"question": text}, "machine"),
            )
        )
    ]
    actions = recorder.reply(
        {"raw": text, group[5]: [text]},
        turn=turn,
        text=text,
        reasoning=text,
        usage=USAGE,
        cost=0.01,
        provider=group[6],
        model=group[7],
        calls=calls,
    ).actions
    for at, (action, call) in enumerate(zip(actions, calls, strict=True)):
        act = {"action": "Type", "text": text} if call["name"] == "type" else {}
        close(recorder, action, act, text, turn * 10 + at)
    events(recorder, text, group)


def close(recorder: Recorder, action: EventId, act: dict[str, str], text: str, shade: int) -> None:
    before, after = picture(recorder, shade), picture(recorder, shade + 1)
    recorder.intent(action, "op", act)
    if shade % 10 == 4:
        return recorder.uncertain(action, text, after=after)
    if shade % 10 == 5:
        return recorder.refused(action, text)
    change = Change(0.2, [(1, 1, 5, 5)])
    return recorder.done(
        action, ok=shade % 2 == 0, text=text, sent=Sent(text, after), before=before, after=after, change=change
    )


def events(recorder: Recorder, text: str, group: Sequence[str]) -> None:
    shown = picture(recorder, 200)
    outcomes = list(Outcome) * 4
    findings = [
        Finding(name, name, outcome, text, text, (2, 2, 9, 4), 0.5, text)
        for name, outcome in zip(group, outcomes, strict=False)
    ]
    recorder.verify(findings, group[0], picture=shown)
    for payload in group:
        recorder.snapshot(snapshot=payload, backend=payload, keeps=payload, size=1, ms=1, label=payload)
        recorder.message(Actor.HUMAN, payload, turn=1, name=payload)
    recorder.limit(group[1], text, allowed=1, used=2)
    recorder.error(group[2], text, permanent=False)
    recorder.policy(group[3], text)
    for kind in (Kind.FORK, Kind.SELECT, Kind.TAKEOVER, Kind.OBSERVATION):
        recorder.event(kind, Actor.SYSTEM, {"text": text, "reason": text, "machine": text}, name=group[4])


def handed_over(recorder: Recorder) -> None:
    sha256 = recorder.blob(b"<html><script>alert(1)</script></html>", "text/html")
    for payload in PAYLOADS:
        recorder.file(name=payload, path=f"/home/agent/{payload}", direction="out", sha256=sha256)


def remarks_and_screen_text(trace: Trace, owner: User) -> None:
    for event, payload in zip(Event.objects.filter(trace=trace).order_by("seq"), PAYLOADS, strict=False):
        Remark.objects.create(event=event, author=owner, text=payload.replace("\0", " "))
    shown = set(Event.objects.filter(trace=trace).exclude(after="").values_list("after", flat=True))
    for sha256 in shown:
        spots = [[payload, 1, 1, 10, 2] for payload in PAYLOADS]
        ScreenText.objects.create(pk=sha256, text="\n".join(PAYLOADS).replace("\0", " "), spots=spots)
