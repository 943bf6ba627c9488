"""Debian's Chromium, as every browser test starts it."""

from pathlib import Path

CHROMIUM = Path(__file__).with_name("steady_chromium.py")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
