from django.apps import AppConfig


class GodhandWebConfig(AppConfig):
    name = "godhand_web"
    verbose_name = "GodHand"

    def ready(self) -> None:
        # Tasks sent from a page bind to whichever Celery app was configured first.
        from . import audit_signals, celery, quotas  # noqa: F401
