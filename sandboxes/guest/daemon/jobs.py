"""What the server does for those it has let in: each job goes to a worker, its bytes past it."""

import os
from collections.abc import Callable, Iterator

from .files import read_unsized, write_all
from .nursery import Workers, consult, listen
from .operations import Operations
from .protocol import (
    BODY_LIMIT,
    CHUNK,
    Answer,
    Channel,
    Hangup,
    Header,
    Malformed,
    Refusal,
    refusal_of,
    want,
    want_between,
)
from .sessions import Sessions

UNSIZED_LIMIT = 16 << 20


class Jobs:
    def __init__(self, workers: Workers) -> None:
        self.workers, self.operations, self.sessions = workers, Operations(), Sessions(workers)

    def perform(self, header: Header, body: Iterator[bytes]) -> Answer:
        op = want(header, "op", str)
        doers: dict[str, Callable[[Header, Iterator[bytes]], Answer]] = {
            "ping": lambda *_: ({"ok": True}, []),
            "exec": self.exec,
            "write": self.write,
            "unpack": self.unpack,
            "stat": lambda header, _: self.employ(header),
            "list": lambda header, _: self.employ(header),
            "bash": lambda header, _: self.sessions.bash(header),
        }
        if op not in doers:
            raise Refusal("bad_request", f"There is no operation “{op}”.")
        if "op_id" not in header:
            return doers[op](header, body)
        op_id = want(header, "op_id", str)
        if not 0 < len(op_id) <= 200:
            raise Refusal("bad_request", "“op_id” must have from 1 to 200 characters.")
        return self.operations.once(op_id, lambda: doers[op](header, body))

    def employ(self, job: Header, descriptors: tuple[int, ...] = ()) -> Answer:
        worker = self.workers.borrow()
        answer, parts = consult(worker, job, descriptors)
        if answer.pop("spent", False):
            worker.close()
        else:
            self.workers.give_back(worker)
        return answer, parts

    def exec(self, header: Header, body: Iterator[bytes]) -> Answer:
        first = next(body, b"")
        if not first:
            return self.employ(header)
        stdin = os.memfd_create("stdin")
        try:
            write_all(stdin, first)
            for chunk in body:
                write_all(stdin, chunk)
            os.lseek(stdin, 0, os.SEEK_SET)
            return self.employ(header, (stdin,))
        except OSError as error:
            raise refusal_of(error) from None
        finally:
            os.close(stdin)

    def read(self, channel: Channel, header: Header) -> None:
        """Sends the answer itself, for the kernel moves the content from file to connection."""
        offset = want_between(header, "offset", 0, 1 << 62)
        limit = want_between(header, "limit", BODY_LIMIT, BODY_LIMIT)
        worker = self.workers.borrow()
        answer, _ = consult(worker, header)
        if not answer["ok"]:
            self.workers.give_back(worker)
            channel.send(answer)
            return
        with os.fdopen(worker.descriptors.pop(), "rb", buffering=0) as file:
            self.workers.give_back(worker)
            size = answer["size"]
            unsized = b"" if size else read_unsized(file.fileno(), UNSIZED_LIMIT)
            count = max(0, (size or len(unsized)) - offset)
            if count > limit and not want(header, "partial", bool, False):
                raise Refusal("limit", f"The file has {count} bytes, more than {limit}.")
            count = min(count, limit)
            if not size:
                channel.send({"ok": True, "size": len(unsized)}, unsized[offset : offset + count])
                return
            channel.send({"ok": True, "size": size, "sizes": [count]})
            if count and channel.sock.sendfile(file, offset, count) != count:
                raise Hangup

    def pack(self, channel: Channel, header: Header) -> None:
        """Sends many answers, one for each piece, for nobody knows how many there will be."""
        worker = self.workers.borrow()
        answer, _ = consult(worker, header)
        if answer["ok"]:
            pipe = worker.descriptors.pop()
            try:
                while piece := os.read(pipe, CHUNK):
                    channel.send({"ok": True, "more": True}, piece)
            except OSError:
                worker.close()
                raise
            finally:
                os.close(pipe)
            answer, _ = listen(worker)
        self.workers.give_back(worker)
        if answer["ok"]:
            channel.send({"ok": True, "more": False}, b"")
        else:
            channel.send(answer)

    def unpack(self, header: Header, body: Iterator[bytes]) -> Answer:
        worker = self.workers.borrow()
        answer, parts = consult(worker, header)
        if answer["ok"]:
            answer, parts = self.feed(worker, body)
        self.workers.give_back(worker)
        return answer, parts

    def feed(self, worker: Channel, body: Iterator[bytes]) -> Answer:
        pipe = worker.descriptors.pop()
        try:
            for chunk in body:
                write_all(pipe, chunk)
        except BrokenPipeError:
            pass
        except (Hangup, Malformed):
            worker.close()
            raise
        finally:
            os.close(pipe)
        return listen(worker)

    def write(self, header: Header, body: Iterator[bytes]) -> Answer:
        worker = self.workers.borrow()
        answer, parts = consult(worker, header)
        if answer["ok"]:
            answer, parts = self.fill(worker, body)
        self.workers.give_back(worker)
        return answer, parts

    def fill(self, worker: Channel, body: Iterator[bytes]) -> Answer:
        descriptor, failure = worker.descriptors.pop(), None
        try:
            for chunk in body:
                write_all(descriptor, chunk)
        except (Hangup, Malformed):
            worker.close()
            raise
        except OSError as error:
            failure = refusal_of(error)
        finally:
            os.close(descriptor)
        answer = consult(worker, {"commit": failure is None})
        return (failure.header, []) if failure else answer
