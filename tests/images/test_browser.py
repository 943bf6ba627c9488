"""Where a system has no Chromium as a package, as Ubuntu, its tests take the one in the image."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import browser
from godhand_web.cli import system


def test_it_opens_a_page_in_the_browser_of_the_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "OF_THE_SYSTEM", tmp_path / "none")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    page = "data:text/html,<script>document.write(6 * 7)</script>"
    argv = [*browser.command(), *browser.FLAGS, profile, "--dump-dom", page]
    shown = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "42" in shown
    assert str(browser.PLACE) not in Path("/proc/self/mounts").read_text()


def test_it_asks_ubuntu_for_no_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    wanted = {}
    for name in ("debian", "ubuntu"):
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda name=name: {"ID": name})
        wanted[name] = {need.package for need in system.missing(for_development=True)}
    assert wanted["debian"] - wanted["ubuntu"] == {"chromium"}
