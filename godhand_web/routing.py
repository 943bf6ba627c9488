from typing import Any

from django.urls import path, re_path

from .consumers import MachineHints, MachineListHints, Nowhere, RunHints, TaskListHints, TraceHints

# The stubs know path() for pages only.
machine_list: Any = MachineListHints.as_asgi()
machine: Any = MachineHints.as_asgi()
trace: Any = TraceHints.as_asgi()
task_list: Any = TaskListHints.as_asgi()
run: Any = RunHints.as_asgi()
nowhere: Any = Nowhere.as_asgi()

sockets: list[Any] = [
    path("ws/machines/", machine_list),
    path("ws/machines/<str:machine_id>/", machine),
    path("ws/traces/<str:trace_id>/", trace),
    path("ws/tasks/", task_list),
    path("ws/runs/<str:run_id>/", run),
    re_path("", nowhere),
]
