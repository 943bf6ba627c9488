"""The browser's end of a connection: WebSocket frames in bounded memory."""

import time
from contextlib import suppress
from socket import SHUT_RDWR

from websockify.websocket import WebSocketWantReadError
from websockify.websockifyserver import CompatibleWebSocket

MAX_FRAME = 2 * 1024 * 1024
_BINARY, _PING, _PONG = 0x2, 0x9, 0xA


class Ending(Exception):
    """Why a connection ends, as a WebSocket close code and a few words that the browser may show."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class GateSocket(CompatibleWebSocket):  # type: ignore[misc]
    """websockify's socket decodes; what is to be sent waits in `outgoing`, so that its size can be seen.

    The stock socket answers a ping in the middle of a half-sent message with an exception, and takes frames of any
    length.
    """

    def __init__(self, handler: object) -> None:
        super().__init__(handler)
        self.outgoing = bytearray()
        self.heard_at = time.monotonic()

    def messages(self) -> list[bytes]:
        """What came in whole, without waiting. Raises Ending when the other side is done or breaks the rules."""
        self.heard_at = time.monotonic()
        found = []
        while True:
            try:
                message = self.recvmsg()
            except WebSocketWantReadError:
                break
            if message is None:
                raise Ending(1000, "The browser closed the connection.")
            found.append(message)
            if not self.pending():
                break
        if self._sent_close:
            raise Ending(1002, "The browser broke the WebSocket protocol.")
        return found

    def queue(self, data: bytes) -> None:
        self.outgoing += self._encode_hybi(_BINARY, data)

    def queue_ping(self) -> None:
        self.outgoing += self._encode_hybi(_PING, b"")

    def flush(self) -> int:
        """How many bytes the network took."""
        try:
            sent = int(self.socket.send(self.outgoing))
        except BlockingIOError:
            return 0
        del self.outgoing[:sent]
        return sent

    def end(self, code: int, reason: str, patience: float) -> None:
        """Say why, and wait for the answer to that: unread bytes would turn our last words into a reset."""
        if self.socket is None:
            return
        self.socket.settimeout(patience)
        self.socket.sendall(self.outgoing)
        self.shutdown(SHUT_RDWR, code, reason)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with suppress(WebSocketWantReadError):
                if self.recvmsg() is None:
                    return

    def handle_ping(self, data: bytes) -> None:
        if len(self.outgoing) < MAX_FRAME:
            self.outgoing += self._encode_hybi(_PONG, data)

    def _recv_frames(self) -> bool:
        going_on = bool(super()._recv_frames())
        if len(self._recv_buffer) > MAX_FRAME or len(self._partial_msg) > MAX_FRAME:
            raise Ending(1009, "The browser sent a message that is too big.")
        return going_on
