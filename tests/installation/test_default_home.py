import os
import subprocess

from .running import GODHAND


def test_it_uses_one_home_for_root_and_for_the_services() -> None:
    """Who runs a command decides its default home, so root's choice must reach the unprivileged processes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GODHAND_")}
    code = "from sandboxes.host import here; print(here().home)"
    shown = subprocess.run(
        [GODHAND, "manage", "shell", "-v", "0", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "/var/lib/godhand"
