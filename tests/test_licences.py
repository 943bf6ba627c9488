"""What GodHand installs by default may be used by everybody: nothing under the GPL or AGPL, and nothing unsaid."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

LOCK = Path(__file__).parent.parent / "requirements.lock"
STRONG_COPYLEFT = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|(Affero )?General Public License)", re.IGNORECASE)


def licence(package: Distribution) -> str:
    facts = package.metadata
    classifiers = [line for line in facts.get_all("Classifier", []) if line.startswith("License ::")]
    said = facts.get_all("License-Expression", []) or classifiers or facts.get_all("License", [])
    return " ".join(said)[:200]


def installed() -> dict[str, str]:
    found = {}
    for name in re.findall(r"^([\w.-]+)==", LOCK.read_text(), re.MULTILINE):
        try:
            found[name] = licence(distribution(name))
        except PackageNotFoundError:
            continue
    return found


def test_it_installs_nothing_under_a_licence_that_spreads() -> None:
    found = installed()
    assert len(found) > 50
    assert {name: said for name, said in found.items() if not said or STRONG_COPYLEFT.search(said)} == {}


def test_it_would_notice() -> None:
    assert STRONG_COPYLEFT.search("GPL-3.0-only")
    assert STRONG_COPYLEFT.search("License :: OSI Approved :: GNU Affero General Public License v3")
    assert not STRONG_COPYLEFT.search("LGPL-3.0-or-later")
    assert not STRONG_COPYLEFT.search("License :: OSI Approved :: GNU Lesser General Public License v3")
