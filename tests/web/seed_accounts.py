"""People, a team and what they did, for the pages of accounts. Run as a program with the site's environment."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from godhand_web.models import AuditEntry, Membership, Role, Team, User  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"


def main(password: str) -> None:
    ann, newcomer, boss = (User.objects.get(username=name) for name in ("ann", "newcomer", "boss"))
    newcomer.set_password(password)
    newcomer.save()
    team = Team.objects.create(name="Research")
    for person, role, agreed in ((ann, Role.ADMIN, True), (newcomer, Role.VIEWER, True), (boss, Role.OPERATOR, False)):
        Membership.objects.create(team=team, person=person, role=role, agreed=agreed)
    User.objects.create_user("left", is_active=False)
    for outcome, note in (("done", "passkey"), ("refused", HOSTILE), ("failed", "")):
        for what in ("logged in", "destroy_machine"):
            AuditEntry.objects.create(
                person=ann, name="ann", what=what, kind="machine", thing="0123456789ab", note=note, outcome=outcome
            )
    json.dump({"team": team.pk, "person": ann.pk}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
