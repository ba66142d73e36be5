"""A real server on a real socket, with a handler that the test scripts."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from trayagent.ipc.broadcast import Broadcast
from trayagent.ipc.peer import Peer
from trayagent.ipc.schema import Json, VerbError
from trayagent.ipc.server import Server


async def until(true: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for something that has no event of its own."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


class Daemon:
    """A server whose verbs do something simple, and remember what they were asked."""

    def __init__(self, folder: Path, **limits: float) -> None:
        self.asked: list[tuple[str, Json, Peer]] = []
        self.feed = Broadcast()
        self.panes: list[Json] = [{"pane": "default:%1"}]
        self.server = Server(folder, self.handle, **limits)  # type: ignore[arg-type]

    async def handle(self, verb: str, args: Json, peer: Peer) -> Json | AsyncIterator[Json]:
        self.asked.append((verb, args, peer))
        if verb == "events":
            return self.feed.subscribe({"type": "hello"})
        if verb == "jump":
            raise VerbError("no-pane", "no such pane")
        if verb == "back":
            raise ZeroDivisionError
        return {"panes": self.panes, "verb": verb}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
async def daemon(folder: Path) -> AsyncIterator[Daemon]:
    made = Daemon(folder, line_timeout=0.3, write_timeout=0.3, max_clients=4)
    await made.server.start()
    yield made
    await made.server.close()


@pytest.fixture
def talk(folder: Path) -> Callable[[bytes], Awaitable[bytes]]:
    """Send raw bytes, read until the server hangs up or half a second of silence."""

    def blocking(data: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(5)
            raw.connect(str(folder / "daemon.sock"))
            raw.sendall(data)
            raw.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := raw.recv(65536):
                got += chunk
            return got

    async def run(data: bytes) -> bytes:
        return await asyncio.to_thread(blocking, data)

    return run
