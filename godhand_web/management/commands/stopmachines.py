from django.core.management.base import BaseCommand

from sandboxes import reaper


class Command(BaseCommand):
    help = "Destroys every machine of this host and closes its firewall. Only for when no worker of this host runs."

    def handle(self, *_arguments: str, **_options: object) -> None:
        if trouble := reaper.clear_host():
            self.stdout.write(f"machines were removed without the database: {trouble}")
