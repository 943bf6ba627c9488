"""The choice between the branches of a run: a step in the trace, with its reasons, that a person can overrule."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import transaction

from sandboxes.errors import Unavailable
from traces.errors import TraceError
from traces.events import Actor, Kind, Recorded, Recorder
from traces.payloads import EventId
from traces.queries import head_of, path_events, path_totals, totals
from traces.screens import texts_of

from . import leases, lifecycle, model_keys, places, reading, vault
from .budget import Limits, Spent, check
from .deciding import Turn, turn_of
from .endings import LimitReached
from .errors import AgentError, BadTask
from .judging import judge_by, record_judge
from .models import Branch, Run, State
from .narrative import question
from .plan import Plan
from .providers import registry
from .runner import known_to, picture, recorder_for
from .select import Candidate, Choice, equals, needs_a_judge
from .select import choose as best_of

log = logging.getLogger(__name__)

READING_SECONDS = 10.0


def choose(run: Run) -> bool:
    """Among branches that have all ended; whether it stands now which of them counts. False while another is choosing.

    Once for each set of them, whoever asks; never against a person's word.
    """
    with turn_of(run.pk) as turn:
        run.refresh_from_db()
        branches = list(run.branches.exclude(state=State.CANCELLED)) or list(run.branches.all())
        among = sorted(f"{branch.name} {branch.state}" for branch in branches)
        if turn and not _stands(run, among):
            with turn.kept():
                choice = best_of(judged(run, branches, [candidate_of(run, branch) for branch in branches]))
            _decide(turn, branches, choice, {"among": among})
            run.refresh_from_db()
        return _stands(run, among)


def _stands(run: Run, among: list[str]) -> bool:
    return bool(run.choice.get("among") == among or run.chosen_by_id)


def _decide(turn: Turn, branches: Sequence[Branch], choice: Choice, facts: dict[str, Any]) -> None:
    winner = next(branch for branch in branches if branch.name == choice.winner.branch)
    facts |= {"reasons": choice.reasons, "order": [one.to_json() for one in choice.order]}
    with transaction.atomic():
        if turn.decide(chosen=winner, choice=facts):
            _record(winner, Actor.VERIFIER, " ".join((_words(choice), *choice.reasons)), facts)


def pick(run: Run, branch: Branch, person: Any) -> None:
    """A person knows better. Raises BadTask while the branch is under way."""
    if not branch.ended:
        raise BadTask(f"“{branch.name}” is under way: stop it, or wait for its end, before it can be the one.")
    facts = {**run.choice, "picked": branch.name, "by": person.get_username()}
    _record(branch, Actor.HUMAN, f"{person.get_username()} chose {branch.name}", facts)
    Run.objects.filter(pk=run.pk).update(chosen=branch, chosen_by=person, choice=facts)
    run.refresh_from_db()
    lifecycle.mirror(run)
    if all(each.ended for each in run.branches.all()):
        places.settle(run)


def candidate_of(run: Run, branch: Branch) -> Candidate:
    head = head_of(run.trace_id, branch.name) or branch.forked_at
    used = path_totals(run.trace_id, EventId(head)) if head else None
    findings = (branch.verdict or {}).get("findings", {})
    return Candidate(
        branch=branch.name,
        finished=bool(branch.claim),
        passed=sum(one.get("outcome") == "passed" for one in findings.values()),
        checks=max(len(findings), _due(run)),
        cost=used.cost if used else 0.0,
        steps=used.steps if used else 0,
    )


def judged(run: Run, branches: Sequence[Branch], candidates: list[Candidate]) -> list[Candidate]:
    """With scores where the checks do not decide. A judge that gives none changes nothing."""
    if not Plan.of(run).judge or not needs_a_judge(candidates):
        return candidates
    tied = {one.branch for one in equals(candidates) if one.finished}
    if len(tied) < 2:
        return candidates
    _read_screens(run)
    by_name = {branch.name: branch for branch in branches}
    return [_score(run, by_name[one.branch], one) if one.branch in tied else one for one in candidates]


def _score(run: Run, branch: Branch, one: Candidate) -> Candidate:
    head = head_of(run.trace_id, branch.name)
    if head is None:
        return one
    events = path_events(run.trace_id, head)
    last = next((event.after for event in reversed(events) if event.after), None)
    try:
        used = totals(run.trace_id)
        check(Limits.from_json(run.task.limits), Spent(tokens=used.tokens, money=used.cost))
        secrets = vault.secrets_of(run.task)
        options = registry.read_options(run.task.provider, secrets.fill(run.task.options))
        paid = partial(record_judge, _recorder(branch))
        judge = judge_by(registry.make(run.task.provider, options, model_keys.of), time.sleep, paid)
        answer = judge(question(run.task.goal, events, _texts(events)), [picture(last)] if last else [])
        return replace(one, score=min(1.0, max(0.0, float(answer["score"]))), said=str(answer.get("reason", ""))[:500])
    except (LimitReached, AgentError, TraceError, KeyError, TypeError, ValueError) as error:
        log.warning("nobody judged %s: %s", branch, error)
        return one


def _read_screens(run: Run) -> None:
    """The newest that nobody has read yet, for a while: the judge is told what came and went on them."""
    try:
        reading.read(run.trace_id, READING_SECONDS)
    except Unavailable as error:
        log.info("the judge of %s hears no text of screens: %s", run.pk, error)


def _texts(events: Sequence[Recorded]) -> dict[str, str]:
    return texts_of(shown for event in events for shown in (event.before, event.after) if shown)


def _due(run: Run) -> int:
    """Checks that decide the verdict."""
    return sum("done" in check.get("when", ["done"]) for check in run.task.checks)


def _words(choice: Choice) -> str:
    winner = choice.winner
    if not winner.checks:
        return f"{winner.branch} is the best of {len(choice.order)}."
    return f"{winner.branch} is the best of {len(choice.order)}: {winner.passed} of {winner.checks} checks passed."


def _record(branch: Branch, actor: Actor, text: str, facts: dict[str, Any]) -> None:
    recorder = _recorder(branch)
    recorder.event(Kind.SELECT, actor, {"text": text, "branch": branch.name, **facts}, name=branch.name)


def _recorder(branch: Branch) -> Recorder:
    return recorder_for(branch, leases.take_over(branch.pk), known_to(branch))
