from urllib.request import urlopen

from .running import Installation, Up

FIRST_STEP = r"^  · +[\d.]+ s +main "
SECONDS_TO_STOP = 60


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


def test_it_ends_in_the_middle_of_its_task(installation: Installation) -> None:
    """By `down` and by Ctrl-C: neither waits for the task, and nobody is shown a traceback."""
    by_down = Up(installation, "demo")
    by_down.wait_for(FIRST_STEP, timeout=300)
    down = installation.call("down")
    assert down.returncode == 0, down.stdout
    by_hand = Up(installation, "demo")
    by_hand.wait_for(FIRST_STEP, timeout=300)
    by_hand.press_ctrl_c()
    for demo in (by_down, by_hand):
        assert demo.wait_for_end(SECONDS_TO_STOP) == 0
        said = "".join(demo.lines)
        assert "The run has" not in said
        assert "Traceback" not in said
    assert installation.living() == set()
