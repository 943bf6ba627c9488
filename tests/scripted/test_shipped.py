"""The scripts that come with GodHand: whole, and right in a real machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.endings import Finished
from agents.performing import prepare
from agents.providers._script import load, shipped
from agents.turns import Answered, Call, Result
from agents.verify import parse_checks
from agents.workplace import Workplace
from sandboxes.backends.gvisor import GvisorSandbox

from ..guest.waiting import eventually
from .talk import Talk, scripted

SALES = b"month,north,south,note\nJanuary,120.5,80,a\nFebruary,99,101,b\nMarch,140,3.25,c\n"
CHECKS = """
[[check]]
kind = "file_matches"
path = "sales.xlsx"
headers = ["month", "north", "south", "note"]
cells = { A5 = "Total", B5 = 359.5, C5 = 184.25 }
charts = 1

[[check]]
kind = "screen_text"
text = "184.25"
"""
MOST_REPLIES = 80


@pytest.fixture
def home(machine: GvisorSandbox) -> Iterator[GvisorSandbox]:
    machine.write_file("sales.csv", SALES)
    yield machine
    machine.exec(["pkill", "-x", "gnumeric"])
    eventually(lambda: not machine.exec(["pgrep", "-x", "gnumeric"]).stdout)
    machine.exec(["sh", "-c", "rm -rf ~/sales.* ~/chart.py ~/.config/gnumeric"])


@pytest.mark.parametrize("name", shipped())
def test_it_knows_every_call_and_label(name: str) -> None:
    script = load(name)
    assert script.title
    assert {doing.name for step in script.steps for doing in step.do} >= {"bash", "deliver", "done"}


def test_it_uses_one_program_in_both() -> None:
    """But for what makes the one wrong."""
    texts = [Path(f"agents/scripts/{name}.toml").read_text() for name in ("chart", "chart_wrong")]
    right, wrong = (re.findall(r"'''\n(.*?)'''", text, re.DOTALL)[0].splitlines() for text in texts)
    assert [line for line in right if line not in wrong and "rows)" not in line and "len(rows)" not in line] == []


class Play:
    """A script in a machine, until it is done: every call is really carried out."""

    def __init__(self, name: str, machine: GvisorSandbox) -> None:
        provider = scripted(name)
        self.delivered: list[str] = []
        self.place = Workplace(machine, provider, checks=parse_checks(CHECKS), deliver=self.deliver)
        self.talk = Talk(provider, "Make a chart.", self.place.frame.picture(self.place.look()))
        self.claims: list[Finished] = []

    def deliver(self, path: str, title: str) -> str:
        self.delivered.append(path)
        return f"Delivered {title}."

    def run(self) -> None:
        for _ in range(MOST_REPLIES):
            reply = self.talk.ask()
            if not reply.calls:
                break
            self.talk.turns.append(Answered(tuple(self.carry_out(call) for call in reply.calls)))
            if self.claims and self.claims[-1].verdict and self.claims[-1].verdict.passed:
                break
        self.place.leave()

    def carry_out(self, call: Call) -> Result:
        performed = prepare(call, self.place).run(self.place.look())
        outcome = performed.outcome
        if isinstance(outcome.ending, Finished):
            self.claims.append(outcome.ending)
        picture = self.place.frame.picture(performed.screens[1]) if call.toolset else None
        return Result(call, outcome.text, outcome.picture or picture, outcome.ok)


def test_it_makes_a_chart(home: GvisorSandbox) -> None:
    play = Play("chart", home)
    play.run()
    assert [claim.verdict and claim.verdict.failed for claim in play.claims] == [()]
    assert play.delivered == ["/home/agent/sales.xlsx"]


def test_it_mends_a_wrong_total_when_the_checks_tell(home: GvisorSandbox) -> None:
    play = Play("chart_wrong", home)
    play.run()
    assert [claim.verdict and claim.verdict.failed for claim in play.claims] == [("file_matches", "screen_text"), ()]
    assert play.delivered == ["/home/agent/sales.xlsx"] * 2
    assert b"chart1.xml" in home.exec(["unzip", "-l", "/home/agent/sales.xlsx"]).stdout


def test_it_asks_for_a_file_that_is_missing(home: GvisorSandbox) -> None:
    home.exec(["rm", "/home/agent/sales.csv"])
    play = Play("chart", home)
    reply = play.talk.ask()
    play.talk.turns.append(Answered(tuple(play.carry_out(call) for call in reply.calls)))
    assert [call.name for call in play.talk.ask().calls] == ["request_human"]
    play.place.leave()
