#!/usr/bin/python3
"""Starts Chromium: Debian's, or where the system has none as a package, the one in the desktop image.

That one runs in a mount namespace of its own, with the host's processes, devices and temporary files, and cannot write
to the image.
"""

import os
import sys
from pathlib import Path

CHROMIUM = Path(__file__)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OF_THE_SYSTEM = Path("/usr/bin/chromium")
PLACE = Path("/run/godhand/browser")
OF_THE_IMAGE = """
root=$1 place=$2; shift 2
mount --bind "$root" "$place" && mount -o remount,bind,ro "$place" || exit
for shared in proc dev sys tmp var/tmp; do mount --rbind "/$shared" "$place/$shared" || exit; done
exec chroot "$place" env HOME=/tmp /usr/bin/chromium "$@"
"""


def command() -> list[str]:
    if OF_THE_SYSTEM.exists():
        return [str(OF_THE_SYSTEM)]
    home = os.environ.get("GODHAND_HOME", "/var/lib/godhand")
    images = Path(os.environ.get("GODHAND_IMAGES", f"{home}/images"))
    root = (images / "desktop" / "current" / "rootfs").resolve()
    PLACE.mkdir(parents=True, exist_ok=True)
    return ["unshare", "--mount", "--propagation", "slave", "sh", "-c", OF_THE_IMAGE, "sh", str(root), str(PLACE)]


if __name__ == "__main__":
    found = command()
    os.execvp(found[0], [*found, *sys.argv[1:]])
