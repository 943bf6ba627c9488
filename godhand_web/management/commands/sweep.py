from django.core.management.base import BaseCommand

from sandboxes import reaper


class Command(BaseCommand):
    help = "Makes rows and host agree. Only for when no worker of this host runs."

    def handle(self, *_arguments: str, **_options: object) -> None:
        reaper.sweep()
