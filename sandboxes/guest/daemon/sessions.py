"""Which worker hosts which shell."""

import socket
import threading

from .nursery import Workers, consult
from .protocol import Answer, Channel, Header, Refusal, want, want_timeout

SESSIONS = 16
Key = tuple[str, str]


class Session:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: Channel | None = None


class Sessions:
    def __init__(self, workers: Workers) -> None:
        self.lock, self.workers = threading.Lock(), workers
        self.known: dict[Key, Session] = {}

    def bash(self, header: Header) -> Answer:
        key = want(header, "user", str, "agent"), want(header, "session", str, "main")
        session = self.claim(key, want_timeout(header, 120.0))
        try:
            if want(header, "restart", bool, False):
                self.end(key, session)
                return {"ok": True, "exit_code": 0, "timed_out": False, "restarted": True, "truncated": False}, [b""]
            session.worker = session.worker or self.workers.borrow()
            answer, parts = consult(session.worker, header)
            if answer.get("error") == "unknown_user":
                self.end(key, session)
            return answer, parts
        except Refusal as refusal:
            if refusal.header["error"] == "lost":
                self.end(key, session)
            raise
        finally:
            session.lock.release()

    def claim(self, key: Key, timeout: float) -> Session:
        while True:
            with self.lock:
                if key not in self.known and len(self.known) >= SESSIONS:
                    raise Refusal("busy", f"The machine has {SESSIONS} shells already; restart one to end it.")
                session = self.known.setdefault(key, Session())
            if not session.lock.acquire(timeout=timeout):
                raise Refusal("busy", "Another command still runs in this shell.")
            if self.known.get(key) is session:
                return session
            session.lock.release()

    def end(self, key: Key, session: Session) -> None:
        with self.lock:
            self.known.pop(key, None)
        if session.worker:
            try:
                session.worker.sock.shutdown(socket.SHUT_WR)
                session.worker.sock.recv(1)
            except OSError:
                pass
            session.worker.close()
            session.worker = None
