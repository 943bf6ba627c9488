from django.urls import path, re_path

from .consumers import MachineHints, MachineListHints, Nowhere

sockets = [
    path("ws/machines/", MachineListHints.as_asgi()),
    path("ws/machines/<str:machine_id>/", MachineHints.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
