from .running import Up


def test_it_tries_three_ways_at_once_and_keeps_the_one_that_passes(running: Up) -> None:
    """Unsaved text and a half filled page live on in each: two of the three checks look for them."""
    shown = running.installation.call("manage", "demotask", "trap", timeout=400)
    assert shown.returncode == 0, shown.stderr[-3000:]
    assert shown.stderr.count("Checks: 2 passed, 1 failed") == 6
    assert "b3 is the best of 3: 3 of 3 checks passed" in shown.stderr
    assert shown.stdout.strip().startswith("/traces/")
