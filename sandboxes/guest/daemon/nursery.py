"""Where workers come from. Only a process without threads may fork, and the server has one per connection."""

# ruff: noqa: SIM105

import os
import socket
import threading
from typing import NoReturn

from .processes import kill_descendants, reap
from .protocol import Answer, Channel, Hangup, Header, Refusal
from .worker import Worker

IDLE_WORKERS = 4


def nursery(control: socket.socket) -> NoReturn:
    """Fork a worker for every byte received and hand back its channel."""
    import ctypes

    libc = ctypes.CDLL(None)
    while control.recv(1):
        ours, theirs = socket.socketpair()
        if not os.fork():
            control.close()
            ours.close()
            libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
            worker = Worker(Channel(theirs))
            try:
                worker.work()
            except (Hangup, OSError):
                if worker.shell:
                    kill_descendants()
            finally:
                os._exit(0)
        theirs.close()
        socket.send_fds(control, [b"+"], [ours.fileno()])
        ours.close()
        reap(0)
    os._exit(0)


class Workers:
    """As the server sees them. Kept and used again, since a fork costs more than the command it is for."""

    def __init__(self) -> None:
        self.lock, self.idle = threading.Lock(), list[Channel]()
        self.nursery, theirs = socket.socketpair()
        if not os.fork():
            self.nursery.close()
            nursery(theirs)
        theirs.close()

    def borrow(self) -> Channel:
        with self.lock:
            if self.idle:
                return self.idle.pop()
            self.nursery.sendall(b"+")
            _, descriptors, _, _ = socket.recv_fds(self.nursery, 1, 1)
        if not descriptors:
            os._exit(1)
        return Channel(socket.socket(fileno=descriptors[0]))

    def give_back(self, worker: Channel) -> None:
        with self.lock:
            if len(self.idle) < IDLE_WORKERS:
                self.idle.append(worker)
                return
        worker.close()

    def warm_up(self) -> None:
        for worker in [self.borrow(), self.borrow()]:
            self.give_back(worker)


def consult(worker: Channel, job: Header, descriptors: tuple[int, ...] = ()) -> Answer:
    try:
        worker.send(job, descriptors=descriptors)
    except OSError:
        pass
    return listen(worker)


def listen(worker: Channel) -> Answer:
    try:
        answer = worker.header()
        return answer, [b"".join(worker.chunks(size)) for size in answer.pop("sizes")]
    except (Hangup, OSError):
        worker.close()
        raise Refusal("lost", "The process that did this died before it could say how it ended.") from None
