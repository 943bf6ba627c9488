from typing import Any

from django.urls import path, re_path

from .consumers import MachineHints, MachineListHints, Nowhere

# The stubs know path() for pages only.
machine_list: Any = MachineListHints.as_asgi()
machine: Any = MachineHints.as_asgi()
nowhere: Any = Nowhere.as_asgi()

sockets: list[Any] = [
    path("ws/machines/", machine_list),
    path("ws/machines/<str:machine_id>/", machine),
    re_path("", nowhere),
]
