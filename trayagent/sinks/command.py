"""The sink that starts a program of the person's own for an alert.

The program gets the alert as one JSON object on stdin, and its fields as TRAYAGENT_... in the
environment. It is started directly: no shell reads any of it, so that nothing an agent draws
can become a command. Programs of one sink run one after the other, in the order of the alerts;
one that outlives its timeout is ended with all that it started. A sink that hangs for long drops
its oldest alerts, which is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trayagent.model.effects import Send

WAITING = 100  # alerts that may wait for a sink
_SAID = 200  # characters of a program's complaint that are told


def fields(sent: Send) -> dict[str, Any]:
    """The alert as JSON: what the program reads on stdin."""
    labels = sent.labels
    return {
        "state": sent.state.value,
        "kind": sent.kind.value if sent.kind else None,
        "reason": sent.reason.value if sent.reason else None,
        "title": sent.title,
        "body": sent.body,
        "project": labels.project,
        "path": labels.path,
        "branch": labels.branch,
        "agent": labels.agent,
        "pane": labels.target,
        "panes": len(sent.panes),
        "at": round(sent.at_wall, 3),
        "waited": round(sent.waited, 1),
    }


@dataclass(slots=True)
class _Line:
    """What waits for one sink, and whether somebody is at work on it."""

    waiting: deque[Send] = field(default_factory=lambda: deque(maxlen=WAITING))
    task: asyncio.Task[None] | None = None


class Commands:
    """All sinks that are programs. report: told a topic and a sentence when one fails."""

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report
        self._lines: dict[str, _Line] = {}

    def send(self, sent: Send) -> None:
        """Hand an alert over. Never waits."""
        name = sent.sink.name
        line = self._lines.setdefault(name, _Line())
        if len(line.waiting) == WAITING:
            self._report(f"sink {name}", f"sink {name}: {WAITING} alerts wait for it; the oldest are dropped")
        line.waiting.append(sent)
        if line.task is None or line.task.done():
            line.task = asyncio.get_running_loop().create_task(self._work(line))

    async def close(self) -> None:
        """End what runs; what waits is not sent any more."""
        tasks = [line.task for line in self._lines.values() if line.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def wait(self) -> None:
        """Until all that was handed over is done."""
        await asyncio.gather(*(line.task for line in self._lines.values() if line.task is not None))

    async def _work(self, line: _Line) -> None:
        while line.waiting:
            sent = line.waiting.popleft()
            problem = await _run(sent)
            if problem:
                name = sent.sink.name
                self._report(f"sink {name}", f"sink {name}: {sent.sink.command[0]}: {problem}")


async def _run(sent: Send) -> str:
    """Run the program to its end; returns what went wrong, "" if nothing did."""
    data = fields(sent)
    texts = {f"TRAYAGENT_{name.upper()}": "" if value is None else str(value) for name, value in data.items()}
    try:
        process = await asyncio.create_subprocess_exec(
            *sent.sink.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **texts},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    try:
        async with asyncio.timeout(sent.sink.timeout):
            _, said = await process.communicate(json.dumps(data).encode() + b"\n")
    except TimeoutError:
        return f"did not end within {sent.sink.timeout:g} s, and was ended"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == 0:
        return ""
    words = " ".join(said.decode("utf-8", "replace").split())[:_SAID]
    return f"ended with {process.returncode}" + (f": {words}" if words else "")
