"""The audit log, for the installation's administrators: who did what, newest first."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from ..access import admin_or_404
from ..models import AuditEntry, User

PER_PAGE = 100
SPANS = {"day": ("a day", 1), "week": ("a week", 7), "month": ("a month", 30)}
WORDS = {
    "new_machine": "make a machine",
    "new_task": "start a task",
    "demo_task": "start the demo",
    "run_again": "run a task again",
    "lease_act": "control",
    "people": "invite somebody",
    "person": "change an account",
    "person_link": "make a login link",
    "person_active": "activate or deactivate",
    "teams": "make a team",
    "team_member": "change a membership",
    "add_member": "add to a team",
    "go_back": "go back to a snapshot",
    "settings": "change settings",
    "share_trace": "begin a link",
    "issue_share": "make a link",
    "account_reauthenticate": "show who it is",
    "mfa_reauthenticate": "show who it is",
    "account_change_password": "change the password",
    "account_set_password": "set a password",
    "mfa_activate_totp": "set up an authenticator app",
    "mfa_deactivate_totp": "remove the authenticator app",
    "mfa_add_webauthn": "add a passkey",
    "mfa_remove_webauthn": "remove a passkey",
    "mfa_generate_recovery_codes": "make recovery codes",
}
PAGES = {"machine": "machine", "trace": "trace", "task": "task", "person": "person", "team": "team"}


@dataclass(frozen=True)
class Line:
    entry: AuditEntry

    @property
    def what(self) -> str:
        return WORDS.get(self.entry.what, self.entry.what.replace("_", " "))

    @property
    def page(self) -> str:
        """Of what it was about; it may be gone."""
        try:
            return reverse(PAGES[self.entry.kind], args=[self.entry.thing])
        except (KeyError, NoReverseMatch):
            return ""


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    admin_or_404(request.user)
    asked = request.GET
    page = Paginator(wanted(asked), PER_PAGE).get_page(asked.get("page"))
    rest = QueryDict(mutable=True)
    rest.update({name: asked[name] for name in ("q", "who", "outcome", "since") if asked.get(name)})
    context: dict[str, Any] = {
        "page": page,
        "lines": [Line(entry) for entry in page],
        "asked": asked,
        "rest": rest.urlencode(),
        "people": User.objects.order_by("username").values_list("username", flat=True)[:500],
        "outcomes": AuditEntry.Outcome.choices,
        "spans": [(name, words) for name, (words, _) in SPANS.items()],
        "any": AuditEntry.objects.exists(),
    }
    return render(request, "audit/index.html", context)


def wanted(asked: QueryDict) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.order_by("-pk")
    if asked.get("who"):
        found = found.filter(name=asked["who"])
    if asked.get("outcome") in AuditEntry.Outcome.values:
        found = found.filter(outcome=asked["outcome"])
    span = SPANS.get(asked.get("since", ""))
    if span:
        found = found.filter(at__gte=timezone.now() - timedelta(days=span[1]))
    words = asked.get("q", "").strip()
    return found.filter(said(words)) if words else found


def said(words: str) -> Q:
    """In what is stored, or in the words that the page has for it."""
    meant = [name for name, told in WORDS.items() if words.lower() in told]
    stored = Q(what__icontains=words.replace(" ", "_")) | Q(what__icontains=words) | Q(what__in=meant)
    return stored | Q(thing__icontains=words) | Q(note__icontains=words) | Q(address__icontains=words)
