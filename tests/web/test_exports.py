"""Traces on their way out and in, as people see it."""

import io
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from godhand_web.models import User
from traces import jobs, tasks
from traces.export.base import Scope, Silent
from traces.export.registry import kinds
from traces.export.zip import ZipExporter
from traces.material import StoredMaterial
from traces.models import Job, JobState, Trace
from traces.sizes import size_of

from .example import example_trace

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture
def home(settings: LazySettings, tmp_path: Path) -> Path:
    settings.HOST = SimpleNamespace(home=tmp_path, run=tmp_path)
    settings.EXPORTS = tmp_path / "exports"
    return tmp_path


@pytest.fixture
def trace(home: Path, owner: User) -> Trace:
    return example_trace(owner, "Été: “pivot”\r\nX-Evil: 1; ../../a")


def export_page(trace: Trace) -> str:
    return reverse("export_trace", args=[trace.pk])


def started(client: Client, trace: Trace, **form: object) -> Job:
    response = client.post(export_page(trace), {"kind": "zip", **form})
    assert response.status_code == 302
    return Job.objects.latest("created_at")


def bundle(trace: Trace, out: Path) -> bytes:
    ZipExporter().write(StoredMaterial(trace), out, Silent())
    return out.read_bytes()


def give(client: Client, data: bytes, name: str = "a.zip") -> Any:
    return client.post(reverse("import_trace"), {"bundle": SimpleUploadedFile(name, data)})


def test_it_offers_every_kind_with_its_size(as_owner: Client, trace: Trace) -> None:
    page = as_owner.get(export_page(trace)).content.decode()
    for kind in kinds().values():
        assert kind.label in page
    assert page.count("about ") == len(kinds())
    assert "b1 · 8 steps · checks passed" in page
    assert "main · 7 steps · checks failed" in page


def test_it_is_smaller_for_a_branch_than_for_all(as_owner: Client, trace: Trace) -> None:
    def sizes(query: str) -> list[int]:
        context = as_owner.get(f"{export_page(trace)}{query}").context
        return [kind.bytes for kind in context["kinds"]]

    assert sizes("?branch=main")[0] < sizes("")[0]
    assert sizes("?branch=main&first=2&last=2")[0] < sizes("?branch=main")[0]


def test_it_says_about_how_large_a_bundle_becomes(trace: Trace, tmp_path: Path) -> None:
    trace.refresh_from_db()
    said = ZipExporter.estimate(size_of(trace, Scope(), ZipExporter))
    assert 0.5 < said / len(bundle(trace, tmp_path / "a.zip")) < 2


def test_it_exports_the_steps_that_were_counted(as_owner: Client, trace: Trace) -> None:
    job = started(as_owner, trace, branch="b1", first="5", last="5")
    tasks.work(job.pk)
    job.refresh_from_db()
    with zipfile.ZipFile(jobs.results(job)[0]) as archive:
        lines = archive.read("events.jsonl").splitlines()
    assert len(lines) == 2, "the action, and the reply that asked for it"
    assert b'"name":"click"' in lines[1]
    assert "branch b1, steps 5 to 5" in as_owner.get(export_page(trace)).content.decode()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"kind": "magic"}, "no export of the kind"),
        ({"kind": "zip", "branch": "nowhere"}, "no branch “nowhere”"),
        ({"kind": "zip", "branch": "main", "first": "9", "last": "3"}, "from 1 to 7"),
        ({"kind": "zip", "branch": "main", "last": "99"}, "from 1 to 7"),
        ({"kind": "zip", "first": "2"}, "Choose the branch"),
    ],
)
def test_it_says_what_cannot_be_exported(as_owner: Client, trace: Trace, form: dict[str, str], said: str) -> None:
    response = as_owner.post(export_page(trace), form)
    assert response.status_code == 400
    assert said in response.content.decode()
    assert not Job.objects.exists()


def test_a_trace_without_steps_says_so(as_owner: Client, owner: User, home: Path) -> None:
    empty = Trace.objects.create(owner=owner, title="Empty")
    assert b"Nothing to export yet" in as_owner.get(export_page(empty)).content
    assert as_owner.post(export_page(empty), {"kind": "zip"}).status_code == 400


def test_it_downloads_as_a_file_with_a_safe_name(as_owner: Client, trace: Trace) -> None:
    job = started(as_owner, trace)
    address = reverse("download_export", args=[job.pk, 1])
    assert as_owner.get(address).status_code == 404, "it is not there yet"
    tasks.work(job.pk)
    answer = as_owner.get(address)
    headers = {name: answer.headers[name] for name in answer.headers}
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert zipfile.ZipFile(io.BytesIO(body)).testzip() is None
    assert headers["Content-Length"] == str(len(body))
    assert headers["Content-Disposition"].startswith("attachment; filename*=utf-8''%C3%89t%C3%A9")
    assert "X-Evil" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in headers["Content-Security-Policy"]
    assert as_owner.get(reverse("download_export", args=[job.pk, 2])).status_code == 404


def test_it_cancels_what_waits(as_owner: Client, trace: Trace) -> None:
    job = started(as_owner, trace)
    as_owner.post(reverse("cancel_job", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED


def test_a_stranger_sees_neither_job_nor_file(trace: Trace, as_owner: Client, stranger: User) -> None:
    job = started(as_owner, trace)
    tasks.work(job.pk)
    other = Client()
    other.force_login(stranger)
    for address in (export_page(trace), reverse("download_export", args=[job.pk, 1])):
        assert other.get(address).status_code == 404
    assert other.post(reverse("cancel_job", args=[job.pk])).status_code == 404


def test_it_imports_what_was_exported(as_owner: Client, trace: Trace, tmp_path: Path) -> None:
    assert give(as_owner, bundle(trace, tmp_path / "a.zip"), "<b>a.zip").status_code == 302
    tasks.work(Job.objects.get().pk)
    page = as_owner.get(reverse("import_trace")).content.decode()
    assert reverse("trace", args=[Job.objects.get().result]) in page
    assert "&lt;b&gt;a.zip" in page


def test_it_says_why_nothing_was_imported(as_owner: Client, home: Path, settings: LazySettings) -> None:
    assert "no zip file" in give(as_owner, b"hello").content.decode()
    assert "Choose a file" in as_owner.post(reverse("import_trace")).content.decode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert give(as_owner, out.getvalue()).status_code == 302
    tasks.work(Job.objects.get().pk)
    assert "no bundle of GodHand" in as_owner.get(reverse("import_trace")).content.decode()
    assert [path for path in home.rglob("*") if path.is_file()] == []
    settings.IMPORT_MB = 0
    assert "larger than 0 MB" in give(as_owner, out.getvalue()).content.decode()


def test_a_bundle_travels_by_the_commands(trace: Trace, tmp_path: Path) -> None:
    out, said = tmp_path / "a.zip", io.StringIO()
    call_command("exporttrace", trace.pk, "zip", str(out), branch="b1")
    call_command("importtrace", str(out), stdout=said)
    assert Trace.objects.get(pk=said.getvalue().strip()).owner.username == "owner"
    call_command("exporttrace", trace.pk, "mp4", str(tmp_path / "a.mp4"), branch="b1")
    assert (tmp_path / "a.vtt").read_text().startswith("WEBVTT")
    for argv in ((trace.pk, "zip", str(out), "--branch", "nowhere"), ("nothing", "zip", str(out))):
        with pytest.raises(CommandError, match="There is no"):
            call_command("exporttrace", *argv)
    out.write_bytes(b"hello")
    with pytest.raises(CommandError, match="no zip file"):
        call_command("importtrace", str(out))
