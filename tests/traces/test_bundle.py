"""What goes out as a bundle comes back the same, elsewhere."""

import json
import zipfile
from pathlib import Path

import pytest

from godhand_web.models import User
from traces import queries
from traces.blobs import BlobStore
from traces.errors import Unreadable
from traces.events import Recorded
from traces.export.base import Scope, Silent
from traces.export.zip import ZipExporter
from traces.importing import take_in
from traces.material import StoredMaterial
from traces.models import Event, Reference, Trace
from traces.payloads import EventId, Sha256
from traces.redact import HIDDEN

from .conftest import USAGE, RecorderOf
from .stories import tell


@pytest.fixture
def told(trace: Trace, recorder_of: RecorderOf) -> Trace:
    tell(recorder_of)
    recorder_of("main", queries.head_of(trace.pk, "main")).judged(usage=USAGE, cost=0.5, provider="x", model="y")
    trace.refresh_from_db()
    return trace


@pytest.fixture
def elsewhere(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "elsewhere")


@pytest.fixture
def bundle(told: Trace, store: BlobStore, tmp_path: Path) -> Path:
    return export(told, store, tmp_path / "bundle.zip")


def export(trace: Trace, store: BlobStore, out: Path, scope: Scope | None = None) -> Path:
    ZipExporter().write(StoredMaterial(trace, scope, store=store), out, Silent())
    return out


def story(trace: Trace) -> list[object]:
    """All that events say, with numbers in place of ids."""
    events = queries.path_events(trace.pk, queries.head_of(trace.pk, "main") or 0)  # type: ignore[arg-type]
    events += queries.path_events(trace.pk, queries.head_of(trace.pk, "b1") or 0)  # type: ignore[arg-type]
    seqs = {event.id: event.seq for event in events}
    return [told_of(event, seqs) for event in events]


def told_of(event: Recorded, seqs: dict[EventId, int]) -> object:
    facts = {**vars(event), "id": event.seq, "parent": seqs.get(event.parent or EventId(0)), "revision": 0}
    if event.kind == "policy":
        facts["data"] = {**event.data, "action": seqs[event.data["action"]]}
    return facts


def test_it_comes_back_as_the_same_tree(told: Trace, bundle: Path, stranger: User, elsewhere: BlobStore) -> None:
    copy = take_in(bundle, stranger, Silent(), elsewhere)
    assert story(copy) == story(told)
    assert (copy.owner, copy.title, copy.pk != told.pk) == (stranger, told.title, True)
    assert (copy.steps, copy.tokens, copy.cost, copy.bytes) == (told.steps, told.tokens, told.cost, told.bytes)
    assert copy.meta["imported"]["id"] == told.pk
    for sha256 in Reference.objects.filter(trace=copy).values_list("blob_id", flat=True):
        assert queries.stored(Sha256(sha256), elsewhere).data


def test_it_can_be_taken_in_twice(bundle: Path, owner: User, elsewhere: BlobStore) -> None:
    first, second = (take_in(bundle, owner, Silent(), elsewhere) for _ in range(2))
    assert story(first) == story(second)
    assert Event.objects.filter(trace__in=[first, second]).count() == 2 * Event.objects.filter(trace=first).count()


def test_it_is_the_same_bytes_each_time(told: Trace, bundle: Path, store: BlobStore, tmp_path: Path) -> None:
    assert export(told, store, tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def test_it_stores_pictures_without_compressing_them_again(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        ways = {info.compress_type for info in archive.infolist() if info.filename.startswith("blobs/")}
        assert ways == {zipfile.ZIP_STORED}
        assert {"atif/main.json", "atif/b1.json"} <= set(archive.namelist())


def test_it_has_a_page_for_people_which_no_import_reads(
    bundle: Path, owner: User, elsewhere: BlobStore, tmp_path: Path
) -> None:
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert "Pivot the sheet" in files["index.html"].decode()
    files["index.html"] = b"<script>alert(1)</script>"
    copy = take_in(written(files, tmp_path / "other.zip"), owner, Silent(), elsewhere)
    assert not copy.references.filter(blob__media_type="text/html").exists()


def test_it_takes_a_branch_or_a_part(told: Trace, store: BlobStore, owner: User, tmp_path: Path) -> None:
    branch = take_in(export(told, store, tmp_path / "a.zip", Scope("b1")), owner, Silent(), store)
    assert set(Event.objects.filter(trace=branch).values_list("branch", flat=True)) == {"main", "b1"}
    assert not Event.objects.filter(trace=branch, kind="policy").exists()
    part = take_in(export(told, store, tmp_path / "b.zip", Scope("b1", 3, 5)), owner, Silent(), store)
    assert list(Event.objects.filter(trace=part).values_list("seq", flat=True)) == [3, 4, 5]


def test_it_hides_what_became_secret_later(
    told: Trace, store: BlobStore, owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHEET_PASSWORD", "=SUM(A1:A9)")
    out = export(told, store, tmp_path / "clean.zip")
    with zipfile.ZipFile(out) as archive:
        texts = [archive.read(name) for name in archive.namelist() if not name.startswith("blobs/")]
    assert not any(b"=SUM(A1:A9)" in text for text in texts)
    assert any(HIDDEN.encode() in text for text in texts)


def test_it_says_which_version_it_cannot_read(bundle: Path, owner: User, elsewhere: BlobStore, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(files["trace.json"]) | {"version": 99}
    files["trace.json"] = json.dumps(header).encode()
    with pytest.raises(Unreadable, match="version 99"):
        take_in(written(files, tmp_path / "new.zip"), owner, Silent(), elsewhere)


def written(files: dict[str, bytes], out: Path) -> Path:
    """A bundle with these files, whose manifest is right."""
    from hashlib import sha256

    hashes = {name: sha256(data).hexdigest() for name, data in files.items() if not name.startswith("blobs/")}
    hashes.pop("manifest.json", None)
    manifest = {"format": "godhand-trace", "files": hashes}
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, data)
    return out
