"""A home of its own for the tests, chosen before anything reads a setting. The real one lends its images and tools."""

import os
import tempfile
from pathlib import Path

REAL_HOME = Path(os.environ.get("GODHAND_HOME", "/var/lib/godhand"))
TEST_HOME = Path(tempfile.mkdtemp(prefix="godhand-test-", dir="/var/tmp"))
TEST_HOME.chmod(0o755)
for name in ("db", "machines", "own", "run"):
    (TEST_HOME / name).mkdir()

os.environ["GODHAND_IMAGES"] = os.environ.get("GODHAND_IMAGES", str(REAL_HOME / "images"))
if (REAL_HOME / "tools/runsc/usr/bin/runsc").exists():
    os.environ.setdefault("GODHAND_RUNSC", str(REAL_HOME / "tools/runsc/usr/bin/runsc"))
os.environ["GODHAND_HOME"] = str(TEST_HOME)
