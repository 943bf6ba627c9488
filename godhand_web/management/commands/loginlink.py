from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from godhand_web.models import LoginLink, User

OWNER = "owner"


class Command(BaseCommand):
    help = "Prints an address that logs the installation's owner in, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("next", nargs="?", default="", help="the page to open after logging in")

    def handle(self, *_arguments: str, **options: Any) -> None:
        path = reverse("login_link", args=[LoginLink.issue(owner())])
        query = f"?{urlencode({'next': options['next']})}" if options["next"] else ""
        self.stdout.write(f"{settings.PUBLIC_URL}{path}{query}")


def owner() -> User:
    """The one person of a fresh installation: no password, only links printed on its own host."""
    user, made = User.objects.get_or_create(username=OWNER, defaults={"is_staff": True, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save()
    return user
