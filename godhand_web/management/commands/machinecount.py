from django.conf import settings
from django.core.management.base import BaseCommand

from sandboxes.models import OFF_HOST, Machine


class Command(BaseCommand):
    help = "How many machine slots are in use."

    def handle(self, *_arguments: str, **_options: object) -> None:
        used = Machine.objects.exclude(state__in=OFF_HOST).count()
        self.stdout.write(f"  {used} of {settings.MACHINE_SLOTS} machine slots in use")
