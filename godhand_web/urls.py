from django.urls import path, register_converter

from .pages import health, home, images, machine, machines, preferences, session, snapshots


class Sha256:
    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Sha256, "sha256")

urlpatterns = [
    path("", home.dashboard, name="dashboard"),
    path("machines/", machines.index, name="machines"),
    path("machines/new/", machines.new, name="new_machine"),
    path("machines/<str:machine_id>/", machine.show, name="machine"),
    path("machines/<str:machine_id>/destroy/", machine.destroy, name="destroy_machine"),
    path("machines/<str:machine_id>/ticket/", machine.ticket, name="ticket"),
    path("machines/<str:machine_id>/stop/", machine.stop, name="stop_machine"),
    path("machines/<str:machine_id>/resume/", machine.resume, name="resume_machine"),
    path("machines/<str:machine_id>/snapshot/", snapshots.take, name="take_snapshot"),
    path("machines/<str:machine_id>/snapshots/<str:snapshot_id>/fork/", snapshots.fork, name="fork_snapshot"),
    path("machines/<str:machine_id>/snapshots/<str:snapshot_id>/back/", snapshots.go_back, name="go_back"),
    path("machines/<str:machine_id>/snapshots/<str:snapshot_id>/delete/", snapshots.delete, name="delete_snapshot"),
    path("machines/<str:machine_id>/screenshot/", machine.take_screenshot, name="take_screenshot"),
    path("machines/<str:machine_id>/screenshots/<int:number>/", machine.screenshot, name="screenshot"),
    path("machines/<str:machine_id>/screenshots/<sha256:sha256>.webp", machine.picture, name="picture"),
    path("images/", images.index, name="images"),
    path("settings/", preferences.edit, name="settings"),
    path("theme/", preferences.theme, name="theme"),
    path("login/", session.Login.as_view(), name="login"),
    path("login/link/<str:token>/", session.link, name="login_link"),
    path("logout/", session.leave, name="logout"),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]
