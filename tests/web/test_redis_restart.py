"""Hints that were sent while Redis was away are lost, so every listener has to look again."""

import pytest
from asgiref.sync import async_to_sync
from websockets.exceptions import ConnectionClosed

from godhand_web.consumers import SERVICE_RESTART
from godhand_web.layer import Layer
from sandboxes.publish import machine_group
from tests.broker import Broker

from .site import Site
from .test_over_the_wire import listen


def test_it_sends_listeners_away_when_redis_goes_and_hears_them_when_it_is_back(own_site: Site, broker: Broker) -> None:
    machine_id = own_site.facts["machines"]["ready"]
    paths = (f"/ws/machines/{machine_id}/", "/ws/machines/")
    with listen(own_site, paths[0], "ann") as first, listen(own_site, paths[1], "ann") as second:
        broker.stop()
        for socket in (first, second):
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=20)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == SERVICE_RESTART
    broker.start()
    layer = Layer(broker.url)
    with listen(own_site, paths[0], "ann") as again:
        async_to_sync(layer.group_send)(machine_group(machine_id), {"type": "machine.changed", "id": machine_id})
        assert machine_id in str(again.recv(timeout=20))
