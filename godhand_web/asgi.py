import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")

pages = get_asgi_application()

from .routing import sockets  # noqa: E402  (consumers need the app registry that the line above fills)

application = ProtocolTypeRouter(
    {"http": pages, "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets)))}
)
