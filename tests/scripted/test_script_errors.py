"""Mistakes in a script are told when it is loaded, with the step and the key."""

from pathlib import Path

import pytest

from agents.errors import BadTask
from agents.providers.registry import read_options
from agents.providers.scripted import ScriptedOptions

FIRST = '[[step]]\nlabel = "first"\nsay = "Hello."\n[[step]]\n'


@pytest.mark.parametrize(
    ("second", "place"),
    [
        ("", "Step 2: does nothing"),
        ('label = "again"', "Step 2: does nothing"),
        ('label = "first"\nsay = "x"', "Step 2: label: “first” is taken"),
        ('label = "end"\nsay = "x"', "Step 2: label: “end” is taken"),
        ('label = "With Space"\nsay = "x"', "Step 2: label"),
        ("label = 1", "Step 2: label"),
        ('sing = "x"', "Step 2: sing: is not known"),
        ("say = 7", "Step 2: say: must be text"),
        ('wait_for = ""', "Step 2: wait_for: must be text"),
        ('wait_for = "x"\ntries = 0', "Step 2: tries"),
        ('wait_for = "x"\nevery = -1', "Step 2: every"),
        ('wait_for = "x"\nevery = nan', "Step 2: every"),
        ('wait_for = "x"\nelse = "nowhere"', "Step 2: else: there is no label “nowhere”"),
        ('wait_for = "x"\nthen = "first"', "Step 2: then: needs an if_ key"),
        ('say = "x"\ntries = 3', "Step 2: tries: needs something to wait for"),
        ('say = "x"\nelse = "first"', "Step 2: else: needs something to wait for"),
        ('goto = "nowhere"', "Step 2: goto: there is no label"),
        ('if_text = "x"', "Step 2: if_text: needs then, else or both"),
        ('if_text = "x"\nif_said = "y"\nthen = "first"', "Step 2: if_said: is a second question"),
        ('if_said = "x"\nthen = "first"\nsay = "y"', "Step 2: say: cannot be with if_said"),
        ('if_failed = false\nthen = "first"', "Step 2: if_failed: must be true"),
        ('obey_screen = true\nsay = "x"', "Step 2: obey_screen: makes its own reply"),
        ("do = []", "Step 2: do: must be a list of calls"),
        ("do = [{}]", "Step 2: do: call 1: must be one call"),
        ('do = [{bash = "ls"}, {fly = "x"}]', "Step 2: do: call 2: “fly” is no call"),
        ("do = [{left_click = [1]}]", "Step 2: do: call 1: left_click: coordinate"),
        ("do = [{left_click = [-5, 1]}]", "Step 2: do: call 1: left_click: x must be"),
        ('do = [{left_click = ""}]', "Step 2: do: call 1: left_click: coordinate: on"),
        ('do = [{left_click = {on = "OK", nth = 0}}]', "Step 2: do: call 1: left_click: coordinate: nth"),
        ('do = [{left_click = {on = "OK", offset = [1]}}]', "left_click: coordinate: offset"),
        ('do = [{left_click = {on = "OK", button = 1}}]', "left_click: button"),
        ("do = [{left_click_drag = {coordinate = {nth = 1}}}]", "left_click_drag: coordinate: on: is needed"),
        ('do = [{key = "ctrl+nonsense"}]', "Step 2: do: call 1: key"),
        ('do = [{wait = "long"}]', "Step 2: do: call 1: wait: duration"),
        ("do = [{zoom = [1, 2, 3]}]", "Step 2: do: call 1: zoom: region"),
        ("do = [{zoom = [5, 5, 5, 9]}]", "Step 2: do: call 1: zoom: The region"),
        ("do = [{screenshot = {x = 1}}]", "Step 2: do: call 1: screenshot: x"),
        ("do = [{bash = {command = 7}}]", "Step 2: do: call 1: bash: command"),
        ('do = [{files = {verb = "burn", path = "x"}}]', "Step 2: do: call 1: files: verb"),
        ('do = [{deliver = {title = "x"}}]', "Step 2: do: call 1: deliver: path"),
        ('say = "x"\nusage = {input = -1}', "Step 2: usage"),
        ('say = "x"\nusage = {tokens = 1}', "Step 2: usage"),
        ('say = "x"\ncost = -1', "Step 2: cost"),
        ('say = "x"\nlatency = 1e9', "Step 2: latency"),
    ],
)
def test_it_names_the_step_and_the_key(second: str, place: str) -> None:
    with pytest.raises(BadTask) as caught:
        ScriptedOptions(FIRST + second)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("no_such_script", "There is no script “no_such_script”; there are chart, chart_wrong"),
        ("../providers/base", "There is no script"),
        ("[[step\n", "not proper TOML"),
        ('title = "x"\n', "step: must be 1 to 1000"),
        ('title = 1\n[[step]]\nsay = "x"', "title"),
        ('author = "x"\n[[step]]\nsay = "x"', "author"),
        ("step = [1]\n", "Step 1: must be a table"),
        (Path("/nonexistent/x.toml"), "x.toml cannot be read"),
        (7, "script: must be"),
    ],
)
def test_it_refuses_what_is_no_script(script: object, words: str) -> None:
    with pytest.raises(BadTask) as caught:
        ScriptedOptions(script)  # type: ignore[arg-type]
    assert words in str(caught.value)


@pytest.mark.parametrize("latency", [-1, True, "long", float("nan")])
def test_it_refuses_a_latency_that_is_none(latency: object) -> None:
    with pytest.raises(BadTask, match="latency"):
        ScriptedOptions("chart", latency)  # type: ignore[arg-type]


def test_it_reads_a_script_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FIRST + 'goto = "first"')
    assert ScriptedOptions(path).script == path


def test_it_is_checked_when_a_task_is_made() -> None:
    with pytest.raises(BadTask, match="Step 2: sing"):
        read_options("scripted", {"script": FIRST + "sing = 1"})
