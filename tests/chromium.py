"""The browser, as every test of pages starts it."""

from pathlib import Path

from bench.browser import FLAGS

__all__ = ["CHROMIUM", "FLAGS"]

CHROMIUM = Path(__file__).with_name("steady_chromium.py")
