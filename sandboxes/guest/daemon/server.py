"""The port: who may talk, who must wait, who has to go. One thread per connection."""

# ruff: noqa: PTH103, PTH105, PTH110, PTH120, PTH123, SIM105

import os
import socket
import sys
import threading
import time
from _operator import _compare_digest as compare_digest  # what hmac has, without loading OpenSSL at boot
from typing import NoReturn

from .jobs import Jobs
from .nursery import Workers
from .protocol import BODY_LIMIT, Channel, Hangup, Header, Malformed, Refusal, want

VERSION, HELLO_LIMIT = 1, 4 << 10
MACHINE_ID_FILE = "/etc/machine-id"
CONNECTIONS, STRANGERS = 64, 32
HELLO_SECONDS, STALL_SECONDS, IDLE_SECONDS = 5, 60, 3600


class Server:
    def __init__(self, token: str, token_file: str, workers: Workers) -> None:
        self.token, self.token_file, self.jobs = token.encode(), token_file, Jobs(workers)
        self.lock, self.instance = threading.Lock(), os.urandom(8).hex()
        self.strangers, self.friends = dict[socket.socket, None](), set[socket.socket]()

    def serve(self, listener: socket.socket) -> NoReturn:
        while True:
            try:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                self.welcome(sock)
                threading.Thread(target=self.converse, args=(sock,), daemon=True).start()
            except (OSError, RuntimeError):
                time.sleep(0.01)

    def welcome(self, sock: socket.socket) -> None:
        """Who holds the token says so at once, so the stranger that has waited longest makes room."""
        with self.lock:
            if len(self.strangers) >= STRANGERS:
                hang_up(next(iter(self.strangers)))
                del self.strangers[next(iter(self.strangers))]
            self.strangers[sock] = None

    def converse(self, sock: socket.socket) -> None:
        channel = Channel(sock)
        try:
            sock.settimeout(HELLO_SECONDS)
            self.admit(channel)
            while True:
                sock.settimeout(IDLE_SECONDS)
                header = channel.header()
                sock.settimeout(STALL_SECONDS)
                self.answer(channel, header)
        except (Malformed, Refusal) as error:
            refusal = error if isinstance(error, Refusal) else Refusal("malformed", str(error))
            try:
                channel.send(refusal.header)
            except OSError:
                pass
        except (Hangup, OSError):
            pass
        finally:
            with self.lock:
                self.strangers.pop(sock, None)
                self.friends.discard(sock)
            channel.close()

    def admit(self, channel: Channel) -> None:
        offered = want(channel.header(HELLO_LIMIT), "token", str).encode(errors="replace")
        with self.lock:
            if not compare_digest(offered, self.token):
                raise Refusal("token", "The token is wrong.")
            if len(self.friends) >= CONNECTIONS:
                raise Refusal("busy", "The machine has too many connections.")
            self.strangers.pop(channel.sock, None)
            self.friends.add(channel.sock)
        channel.send({"ok": True, "version": VERSION, "instance": self.instance})

    def answer(self, channel: Channel, header: Header) -> None:
        size = header.get("body", 0)
        streamed = size == "stream"
        if not streamed and (type(size) is not int or not 0 <= size <= BODY_LIMIT):
            raise Malformed(f"“body” must be “stream” or from 0 to {BODY_LIMIT}.")
        body = channel.stream() if streamed else channel.chunks(size)
        try:
            if header.get("op") in ("read", "pack"):
                for _ in body:
                    pass
                (self.jobs.read if header["op"] == "read" else self.jobs.pack)(channel, header)
                return
            if header.get("op") == "rekey":
                self.rekey(channel, header)
            answer, parts = self.jobs.perform(header, body)
        except Refusal as refusal:
            answer, parts = refusal.header, []
        if streamed:  # who streams may stop when told that it is in vain
            channel.send(answer, *parts)
        for _ in body:
            pass
        if not streamed:
            channel.send(answer, *parts)

    def rekey(self, channel: Channel, header: Header) -> NoReturn:
        token, machine_id = want(header, "new_token", str), want(header, "machine_id", str, "")
        if not 16 <= len(token) <= 200 or not token.isascii():
            raise Refusal("bad_request", "A token has from 16 to 200 plain characters.")
        if machine_id and (len(machine_id) != 32 or not machine_id.isalnum() or not machine_id.isascii()):
            raise Refusal("bad_request", "A machine id has 32 hexadecimal digits.")
        with self.lock:
            if channel.sock not in self.friends:  # its own token was changed while it waited
                raise Hangup
            if machine_id:
                with open(MACHINE_ID_FILE, "w") as file:
                    file.write(f"{machine_id}\n")
            draft = f"{self.token_file}.new"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(token)
            os.replace(draft, self.token_file)
            self.token = token.encode()
            for sock in self.friends - {channel.sock}:
                hang_up(sock)
            self.friends = {channel.sock}
        channel.send({"ok": True})
        raise Hangup


def hang_up(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def main() -> NoReturn:
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    address = options.get("--host", "0.0.0.0"), int(options.get("--port", "5902"))
    token_file = options.get("--token-file", "/run/godhand/token")
    os.umask(0o022)
    os.makedirs(os.path.dirname(token_file), mode=0o700, exist_ok=True)
    token = os.environ.pop("GODHAND_TOKEN", "")
    if os.path.exists(token_file):
        with open(token_file) as file:
            token = file.read()
    if not token:
        raise SystemExit("GODHAND_TOKEN is not set.")
    workers = Workers()
    listener = socket.create_server(address, backlog=128)
    threading.Thread(target=workers.warm_up, daemon=True).start()
    Server(token, token_file, workers).serve(listener)
