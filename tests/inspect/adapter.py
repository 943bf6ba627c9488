"""Our machine as Inspect sees a sandbox: its names for what we call otherwise, and nothing more."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
)

from sandboxes.base import Sandbox
from sandboxes.errors import Gone, OutputLimit, Refused, TimedOut

NO_TIMEOUT = 86_400
CANNOT_EXECUTE = 126


@contextmanager
def inspects_errors(limit: str = "") -> Iterator[None]:
    try:
        yield
    except TimedOut as error:
        raise TimeoutError(str(error)) from None
    except OutputLimit:
        raise OutputLimitExceededError(limit, None) from None
    except Gone as error:
        raise SandboxUnavailableError(str(error)) from None


class GodHandSandboxEnvironment(SandboxEnvironment):
    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self.sandbox = sandbox

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        limits = SandboxEnvironmentLimits()
        stdin = input.encode() if isinstance(input, str) else input or b""
        with inspects_errors(limits.MAX_EXEC_OUTPUT_SIZE_STR), self.sandbox.guest() as guest:
            try:
                result = await asyncio.to_thread(
                    guest.exec,
                    cmd,
                    stdin=stdin,
                    timeout=timeout or NO_TIMEOUT,
                    user=user,
                    cwd=cwd,
                    env=env,
                    output_limit=limits.MAX_EXEC_OUTPUT_SIZE,
                )
            except Refused as refusal:
                return ExecResult(False, 1, "", str(refusal))
        stdout, stderr = (text.decode(errors="replace") for text in (result.stdout, result.stderr))
        if result.returncode == CANNOT_EXECUTE and "permission denied" in stderr.lower():
            raise PermissionError(stderr)
        return ExecResult(result.returncode == 0, result.returncode, stdout, stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        with inspects_errors():
            await asyncio.to_thread(self.sandbox.write_file, file, data)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        limits = SandboxEnvironmentLimits()
        with inspects_errors(limits.MAX_READ_FILE_SIZE_STR), self.sandbox.guest() as guest:
            data = await asyncio.to_thread(guest.read_file, file, limit=limits.MAX_READ_FILE_SIZE)
        return data.decode() if text else data

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            await asyncio.to_thread(environment.as_type(cls).sandbox.destroy)
