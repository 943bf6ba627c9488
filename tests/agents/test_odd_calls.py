"""Calls that cannot be carried out as they stand: the model is told, and the run goes on."""

from typing import Any

import pytest

from agents.models import Document, State
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, message, use

from .conftest import Submit
from .story import drive, told

pytestmark = pytest.mark.django_db(transaction=True)
HALF = "\ud83d"
WRITTEN = message(use("files", verb="create", path="a.txt", content="a"))
DONE = message(use("done", summary="Done."))


@pytest.mark.parametrize(
    "call",
    [
        use("deliver", path="a.txt/b"),
        use("deliver", path="."),
        use("deliver", path=""),
        use("deliver", path="/"),
        use("deliver", path=f"{HALF}.txt"),
        use("deliver", path="a\0b"),
        use("deliver", path="x" * 5000),
        use("files", verb="create", path="b.txt", content=f"half a sign: {HALF}"),
        use("files", verb="edit", path="a.txt", old="a", new=HALF),
        use("files", verb="create", path=f"{HALF}.txt", content="a"),
        use("files", verb="view", path="a\0b"),
        use("files", verb="list", path="a.txt/b"),
        use("files", verb="create", path="", content="a"),
        use("bash", command=f"echo {HALF}"),
        use("bash", command="echo a\0b"),
        action("type", text=HALF),
    ],
)
def test_it_tells_the_model_what_cannot_be_done(
    submit_to_claude: Submit, wire: WireServer, call: dict[str, Any]
) -> None:
    branch = submit_to_claude()
    wire.will(WRITTEN, message(call), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    answer = wire.last["messages"][-1]["content"][-1]
    assert answer["is_error"]
    assert told(branch, call["name"])[-1] == answer["content"][0]["text"]


def test_it_delivers_a_file_whose_name_is_no_text(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude()
    written = message(use("bash", command=r"printf a > $'\xff.txt'"))
    wire.will(written, message(use("deliver", path="\udcff.txt")), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    document = Document.objects.get(branch=branch)
    assert (document.name, document.path, document.size) == (".txt", "?.txt", 1)


def test_it_delivers_under_a_title_that_no_database_takes(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude()
    wire.will(WRITTEN, message(use("deliver", path="a.txt", title=f"Half a sign: {HALF}\0.")), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert Document.objects.get(branch=branch).title == "Half a sign: ? ."
