import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from traces import known, logsafe

SECRET = "hunter2hunter2"


@pytest.fixture
def lines() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger that formats as every process of an installation does."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    formatters: Any = settings.LOGGING["formatters"]
    shape = formatters["line"]
    assert shape["class"] == "traces.logsafe.CleanFormatter"
    handler.setFormatter(logsafe.CleanFormatter(shape["format"], style="{"))
    log = logging.getLogger("test.secrets")
    log.addHandler(handler)
    yield log, out
    log.removeHandler(handler)


def test_it_writes_no_secret_into_a_line_or_a_traceback(lines: tuple[logging.Logger, io.StringIO]) -> None:
    log, out = lines
    logsafe.remember([SECRET])
    log.warning("typed %s", SECRET)
    try:
        raise ValueError(f"https://x.test/?password={SECRET}")
    except ValueError:
        log.exception("branch %s", "b1")
    assert SECRET not in out.getvalue()
    assert out.getvalue().count("[hidden]") == 2
    assert "ValueError: https://x.test/?password=[hidden]" in out.getvalue()


def test_it_writes_no_token_of_a_link(lines: tuple[logging.Logger, io.StringIO]) -> None:
    log, out = lines
    log.warning("Not Found: %s", "/s/gh_share_abcDEF-_0123456789abcDEF012345/")
    assert "Not Found: /s/gh_share_…/" in out.getvalue()


def test_it_knows_what_the_process_itself_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(" from-a-file \n")
    monkeypatch.setenv("SOME_API_KEY", "key-of-somebody")
    monkeypatch.setenv("OTHER_TOKEN_FILE", str(file))
    monkeypatch.setenv("DATABASE_URL", "postgres://me:pass%20word@db/x")
    monkeypatch.setenv("BROKEN_URL", "http://[")
    found = known.of_this_process()
    assert {"key-of-somebody", "from-a-file", "pass%20word", "pass word"} <= set(found)
    assert "me" not in found


def test_it_forgets_the_oldest_before_it_grows_without_end() -> None:
    logsafe.remember(f"secret-number-{number}" for number in range(3 * logsafe.TOLD))
    assert len(logsafe._known.told) == logsafe.TOLD
