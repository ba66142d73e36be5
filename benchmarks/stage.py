"""Fifty agents on a stage: a private tmux server whose panes play recorded sessions, and a watching daemon.

The players are tests/support/player.c, which use next to no CPU. Each pane has a project of its own,
so that transitions and banners can be told apart by its name.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.casts import Recording, recordings
from tests.support.daemon import surroundings
from tests.support.player import Script
from tests.support.tmux import TmuxServer
from trayagent.ipc import client

KNOWN = ("claude", "codex", "opencode")  # agents whose screens have rules
SIZE = (120, 40)
SHORTEST = 15.0  # seconds; shorter sessions are mostly their agent's start
RESET = b"\x1bc\x1b[?1049l\x1b]0;\x07"
DEADLINE = 30.0


def busy_recordings(count: int, agents: tuple[str, ...] = ()) -> list[Recording]:
    """`count` sessions: the agents in turn, each agent's longest first, over and over."""
    by_agent: dict[str, list[Recording]] = {}
    for session in recordings(*agents):
        size = session.cast.cols, session.cast.rows
        ended = any(truth.state == "exited" for truth in session.truths)
        if size == SIZE and session.cast.duration >= SHORTEST and session.truths and not ended:
            by_agent.setdefault(session.agent, []).append(session)
    for sessions in by_agent.values():
        sessions.sort(key=lambda session: -session.cast.duration)
    found: list[Recording] = []
    turn = 0
    while len(found) < count:
        found += [sessions[turn % len(sessions)] for sessions in by_agent.values()]
        turn += 1
    return found[:count]


def quiet_script(session: Recording) -> Script:
    """The agent at its first free prompt, and nothing more."""
    idle = next(truth.certain for truth in session.truths if truth.state == "idle")
    return Script().output(RESET).cast(session.cast, session.starts, idle, at_once=True)


def busy_script(session: Recording) -> Script:
    """The whole session; each dialog of an agent whose rules we have is noted at its first settled frame."""
    script, at = Script().output(RESET), session.starts
    for dialog in session.dialogs if session.agent in KNOWN else ():
        if dialog.settled > at:
            script.cast(session.cast, at, dialog.settled).mark("dialog")
            at = dialog.settled
    return script.cast(session.cast, at)


@dataclass(frozen=True, slots=True)
class Stage:
    """A tmux server and the folder for scripts, projects and logs."""

    server: TmuxServer
    folder: Path

    def play(self, session: Recording, script: Script, name: str, *, again: bool, delay: float = 0.0) -> None:
        """One pane, in a session and a project called `name`."""
        project = self.folder / name
        (project / ".git").mkdir(parents=True)
        (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        options = (*(("-l",) if again else ()), "-d", f"{delay:.3f}")
        log = self.folder / f"{name}.log"
        command = script.command(session.agent, self.folder, f"{name}.script", options=options, log=log)
        self.server.new_session(
            name,
            f"export TRAYAGENT_AGENT={session.agent}; cd {shlex.quote(str(project))} && {command}",
            *SIZE,
        )

    def marks(self) -> list[tuple[str, float]]:
        """(project, wall-clock seconds) of every dialog that has become readable so far."""
        offset = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        found = []
        for path in self.folder.glob("*.log"):
            moments = [int(line.split()[1]) / 1e9 for line in path.read_text().splitlines()]
            found += [(path.stem, moment + offset) for moment in moments]
        return sorted(found, key=lambda row: row[1])


@contextmanager
def stage() -> Iterator[Stage]:
    """An empty stage, taken down at the end."""
    with TmuxServer() as server, tempfile.TemporaryDirectory(prefix="stage-") as folder:
        yield Stage(server, Path(folder))


class Watcher:
    """A trayagent process that watches one stage only. env: its surroundings; config: its config file."""

    def __init__(self, stage: Stage, env: Mapping[str, str] | None = None, config: str = "") -> None:
        self.env = dict(env) if env is not None else surroundings(stage.folder / "home")
        self.runtime = Path(self.env["XDG_RUNTIME_DIR"]) / "trayagent"
        self.events: list[dict[str, Any]] = []
        self._threads: list[threading.Thread] = []
        path = Path(self.env["XDG_CONFIG_HOME"]) / "trayagent" / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(config)
        self._log = stage.folder / "daemon.output"
        self.command = [sys.executable, "-m", "trayagent", "--only-server", str(stage.server.socket)]

    def __enter__(self) -> Watcher:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.env,
                cwd=self.env["HOME"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + DEADLINE
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < end, self._log.read_text()
            time.sleep(0.05)
        return self

    def __exit__(self, *error: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(DEADLINE)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self.process.pid

    def panes(self) -> list[dict[str, Any]]:
        """What it lists."""
        panes: list[dict[str, Any]] = client.call("list", folder=self.runtime)["panes"]
        return panes

    def listen(self) -> None:
        """Collect its events from now on."""
        thread = threading.Thread(target=self._collect, daemon=True)
        thread.start()
        self._threads.append(thread)

    def blocked(self) -> list[tuple[str, str, float]]:
        """(project, agent, wall-clock seconds) of each transition into blocked that was heard."""
        return [
            (event["project"], event["agent"], event["at"])
            for event in list(self.events)
            if event["type"] == "transition" and event["to"] == "blocked"
        ]

    def _collect(self) -> None:
        try:
            for event in client.stream("events", folder=self.runtime):
                self.events.append(event)
        except client.NoDaemon:  # it was stopped
            return

    def _answers(self) -> bool:
        try:
            return bool(client.call("version", folder=self.runtime))
        except (client.NoDaemon, client.VerbError):
            return False
