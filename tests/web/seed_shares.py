"""Links to a trace of ann's in a site: one that is open, one that was revoked, and the draft of one."""

import json
import os
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from godhand_web.models import User  # noqa: E402
from tests.web.example import example_trace  # noqa: E402
from traces import shares  # noqa: E402
from traces.export.base import Scope  # noqa: E402
from traces.hiding import Hider  # noqa: E402
from traces.models import Share, Trace  # noqa: E402
from traces.pictures import Masked  # noqa: E402
from traces.safe import Redaction  # noqa: E402


def drafted(trace: Trace) -> Share:
    share = shares.draft(trace.owner, trace, Scope(), downloads=True)
    shares.fill(share, Redaction(Hider(["pandas"]), Masked, parts=[(0, 0, 0.5, 0.1)], files=True))
    return share


def linked(trace: Trace) -> tuple[Share, str]:
    share = drafted(trace)
    token = shares.issue(share, timezone.now() + timedelta(days=7))
    assert token
    return share, token


if __name__ == "__main__":
    trace = example_trace(User.objects.get(username="ann"), "Mail the pivot to bob@example.org")
    (share, token), (revoked, _) = linked(trace), linked(trace)
    shares.revoke(revoked)
    facts = {"example": trace.pk, "share": share.pk, "token": token, "draft": drafted(trace).pk}
    print(json.dumps(facts), file=sys.stdout)
