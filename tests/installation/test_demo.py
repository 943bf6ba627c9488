from urllib.request import urlopen

from .running import Installation, Up


def test_it_tries_three_ways_at_once_and_keeps_the_one_that_passes(installation: Installation) -> None:
    """Unsaved text and a half filled page live on in each: two of the three checks look for them."""
    demo = Up(installation, "demo")
    link = demo.wait_for(r"See it at\s+(http://\S+)", timeout=400)[1]
    said = "".join(demo.lines)
    assert said.count("Checks: 2 passed, 1 failed") == 6
    assert "b3 is the best of 3: 3 of 3 checks passed" in said
    assert "?next=%2Ftraces%2F" in link
    with urlopen(link) as page:
        assert page.status == 200
    assert demo.stop() == 0
