import pytest
from websockets.exceptions import ConnectionClosed

from .conftest import OWNER, SECOND, Browser, RunningGate


def test_it_closes_what_a_right_that_was_taken_away_had_open(gate: RunningGate) -> None:
    loser, keeper = (gate.connect(gate.ticket(user=user)) for user in (OWNER, SECOND))
    watching, staying = Browser(loser), Browser(keeper)
    watching.round_trip()
    gate.fence.path.with_name(f"{gate.fence.path.name}.{OWNER}.over").touch()
    with pytest.raises(ConnectionClosed) as closed:
        loser.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
    staying.round_trip()
