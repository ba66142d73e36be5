"""The command line against a daemon whose answers the test writes, on a real socket."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trayagent.cli.main import main
from trayagent.ipc.peer import Peer
from trayagent.ipc.schema import VERBS, Json, VerbError
from trayagent.ipc.server import Server

PANE: Json = {
    "pane": "default:%5", "server": "default", "session": "main", "window": "edit", "window_index": 2,
    "pane_id": "%5", "agent": "claude", "name": "Claude Code", "state": "blocked", "kind": "permission",
    "reason": None, "since": 0.0, "needs_you": True, "source": "screen", "confidence": "certain",
    "identity": "process", "message": "Run rm -rf build?", "title": "t", "command": "claude",
    "dir": "/src/shop-api", "pid": 42, "session_id": "abc",
}  # fmt: skip


class FakeDaemon:
    """A server in a thread of its own. answers: verb to what it says (an exception is raised)."""

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, Any] = {"list": {"panes": [PANE]}, "get": {"pane": PANE}}
        self.asked: list[tuple[str, Json]] = []
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._ready, self._thread = threading.Event(), threading.Thread(target=self._run)
        self._thread.start()
        assert self._ready.wait(10)

    async def _handle(self, verb: str, args: Json, peer: Peer) -> Json | AsyncIterator[Json]:
        self.asked.append((verb, args))
        answer = self.answers.get(verb, {"text": f"did {verb}"})
        if isinstance(answer, VerbError):
            raise answer
        return self._stream(answer) if VERBS[verb].stream else answer

    async def _stream(self, items: list[Json]) -> AsyncIterator[Json]:
        for item in items:
            yield item

    def _run(self) -> None:
        async def serve() -> None:
            self._stopping = asyncio.Event()
            server = Server(self._folder, self._handle)
            await server.start()
            self._ready.set()
            await self._stopping.wait()
            await server.close()

        self._loop.run_until_complete(serve())
        self._loop.close()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of our own for everything, and no terminal that we are in."""
    for name in ("TMUX", "TMUX_PANE", "NO_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    for name, folder in (("RUNTIME_DIR", "run"), ("CONFIG_HOME", "config"), ("STATE_HOME", "state")):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / folder))
    return tmp_path


@pytest.fixture
def daemon(home: Path) -> Iterator[FakeDaemon]:
    fake = FakeDaemon(home / "run" / "trayagent")
    yield fake
    fake.stop()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the program as a user would, in this process."""

    def call(*args: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["trayagent", *args])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Result(int(ended.value.code or 0), out, err)

    return call
