"""Scripts that go this way or that, and go on where they were. The pictures are really read."""

import pytest

from agents.turns import Reply, Said, Turn

from .talk import WAITING, Talk, drawn, scripted, stored

TWO_WAYS = """
[[step]]
say = "I begin."
do = [{ bash = "true" }]

[[step]]
if_said = "the other way"
then = "other"

[[step]]
say = "The usual way."
do = [{ bash = "usual" }]
goto = "end"

[[step]]
label = "other"
say = "The other way."
do = [{ bash = "other" }]
"""


@pytest.mark.parametrize(("text", "word"), [("Accept all", "Yes."), ("Something", "No.")])
def test_it_branches_on_what_it_sees(text: str, word: str) -> None:
    script = (
        '[[step]]\nif_text = "accept all"\nthen = "yes"\nelse = "no"\n[[step]]\nlabel = "yes"\nsay = "Yes."\n'
        '[[step]]\nlabel = "no"\nsay = "No."'
    )
    assert Talk(scripted(script), "Do it.", drawn(text)).ask().text == word


RESULTS = """
[[step]]
do = [{ bash = "make" }]

[[step]]
QUESTION
then = "mend"

[[step]]
say = "It works."
goto = "end"

[[step]]
label = "mend"
say = "I mend it."
"""


@pytest.mark.parametrize(
    ("question", "answer", "ok", "word"),
    [
        ("if_failed = true", "no rule", False, "I mend it."),
        ("if_failed = true", "done", True, "It works."),
        ('if_result = "No Rule"', "make: no\n rule to make it", True, "I mend it."),
        ('if_result = "no rule"', "done", False, "It works."),
    ],
)
def test_it_branches_on_what_came_of_it(question: str, answer: str, ok: bool, word: str) -> None:
    talk = Talk(scripted(RESULTS.replace("QUESTION", question)))
    talk.ask()
    talk.answer(answer, ok=ok)
    assert talk.ask().text == word


def test_it_remembers_what_came_of_it_while_it_looks() -> None:
    script = RESULTS.replace("QUESTION", 'wait_for = "Ready"\n[[step]]\nif_failed = true')
    talk = Talk(scripted(script))
    talk.ask()
    talk.answer("no rule", ok=False)
    talk.ask()
    talk.answer(picture=drawn("Ready"))
    assert talk.ask().text == "I mend it."


def test_it_branches_on_what_was_said() -> None:
    talk = Talk(scripted(TWO_WAYS))
    talk.words(1)
    talk.tell("Please take THE OTHER\nway, will you?")
    assert talk.ask().text == "The other way."


def test_it_goes_on_from_turns_that_were_stored() -> None:
    script = f'{WAITING.format(otherwise="")}\n[[step]]\nsay = "Third."'
    talk = Talk(scripted(script), "Do it.", drawn("Loading"))
    talk.ask()
    talk.answer(picture=drawn("Loading"))
    again = Talk(scripted(script))
    again.turns = stored(talk.turns)
    assert again.turns == talk.turns
    assert again.ask() == talk.ask()
    again.answer(picture=drawn("Ready"))
    assert again.words(3) == ["It is ready.", "It is late.", "Third."]


def test_it_takes_the_other_branch_with_a_hint() -> None:
    trunk = Talk(scripted(TWO_WAYS))
    trunk.words(1)
    branches = [Talk(trunk.provider), Talk(trunk.provider)]
    for branch in branches:
        branch.turns = stored(trunk.turns)
    branches[1].tell("You are one of several branches. Go on from here this way: the other way")
    assert [branch.ask().text for branch in branches] == ["The usual way.", "The other way."]


def test_it_begins_where_another_model_has_stopped() -> None:
    turns: list[Turn] = [Said(("Do it.",)), Reply("Hello.", kind="anthropic", raw=[{"type": "text"}])]
    assert scripted('[[step]]\nsay = "One."').complete("", turns, []).text == "One."
