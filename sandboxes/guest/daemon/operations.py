"""What is asked twice happens once."""

import threading
from collections.abc import Callable

from .protocol import Answer, Refusal

REMEMBERED, REMEMBERED_BYTES = 4096, 32 << 20


class Operation:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Answer | None = None


class Operations:
    """Answers by operation id, so that what is asked twice happens once. The oldest answers are let go first."""

    def __init__(self) -> None:
        self.lock, self.known = threading.Lock(), dict[str, Operation]()
        self.heavy, self.size = list[Operation](), 0

    def once(self, op_id: str, run: Callable[[], Answer]) -> Answer:
        """Raises what `run` raises, and then the operation counts as never begun; a Refusal is an answer."""
        while True:
            with self.lock:
                operation = self.known.get(op_id)
                if operation is None:
                    operation = self.known[op_id] = Operation()
                    break
            operation.done.wait()
            if operation.answer:
                return operation.answer
        try:
            operation.answer = answer = run()
        except Refusal as refusal:
            operation.answer = answer = refusal.header, []
        finally:
            with self.lock:
                self.keep(op_id, operation)
            operation.done.set()
        return answer

    def keep(self, op_id: str, operation: Operation) -> None:
        if not operation.answer:
            del self.known[op_id]
            return
        weight = sum(map(len, operation.answer[1]))
        if weight:
            self.heavy.append(operation)
            self.size += weight
        while self.size > REMEMBERED_BYTES:
            oldest = self.heavy.pop(0)
            self.size -= sum(map(len, oldest.answer[1])) if oldest.answer else 0
            oldest.answer = Refusal("forgotten", "This was done; its answer is no longer kept.").header, []
        if len(self.known) > REMEMBERED:
            del self.known[next(name for name, known in self.known.items() if known.answer)]
