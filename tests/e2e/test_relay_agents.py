"""Real agents in a relay in tmux say what they do, which tmux alone would swallow or never ask them.

They are installed from the npm registry into a folder that is kept between runs, and talk to nobody: their
models' address is a port at which nobody listens, which is enough for them to start, work and be stopped.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.relay.fake_daemon import FakeDaemon, listening
from tests.support.daemon import ROOT
from tests.support.tmux import IDLE, TmuxServer
from trayagent.relay import wire

pytestmark = [pytest.mark.long, pytest.mark.tmux, pytest.mark.timeout(600)]

PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.328", "codex": "@openai/codex@0.169.0"}
NOBODY = "http://127.0.0.1:9"
STATE = re.compile(rb"\x1b\]7501;state=([a-z]+)")


def installed(agent: str) -> Path:
    """The agent's program; skips where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"no npm here, hence no {agent}")
    folder = Path(tempfile.gettempdir()) / f"trayagent-agents-{os.getuid()}" / agent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    program = folder / "node_modules" / ".bin" / agent
    if not program.exists():
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--no-audit", "--no-fund", PACKAGES[agent]]
        got = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500)
        binary = folder / "node_modules" / "@anthropic-ai" / "claude-code" / "install.cjs"
        if got.returncode == 0 and binary.exists():  # where npm runs no install scripts
            got = subprocess.run(
                ["node", str(binary)], cwd=folder, capture_output=True, text=True, timeout=300
            )
        if got.returncode != 0:
            pytest.skip(f"npm cannot install {PACKAGES[agent]} here: {got.stderr.strip()[-200:]}")
    return program


class Desk:
    """An agent of a person past its first day, in a relay in a tmux pane."""

    def __init__(self, agent: str, server: TmuxServer, folder: Path, daemon: FakeDaemon) -> None:
        self._daemon, self._server, self._said = daemon, server, b""
        home, project = folder / "home", folder / "home" / "project"
        project.mkdir(parents=True)
        environment = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(folder),
            "PYTHONPATH": str(ROOT),
            "ANTHROPIC_BASE_URL": NOBODY,
            "ANTHROPIC_API_KEY": "sk-ant-api03-dummy-" + "0" * 22,
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "NOBODYS_KEY": "none",
        }
        claude = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["0" * 20], "rejected": []},
            "projects": {str(project): {"hasTrustDialogAccepted": True, "allowedTools": []}},
        }
        (home / ".claude.json").write_text(json.dumps(claude))
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(
            f'model_provider = "nobody"\nmodel = "none"\n[model_providers.nobody]\nname = "nobody"\n'
            f'base_url = "{NOBODY}/v1"\nenv_key = "NOBODYS_KEY"\nwire_api = "responses"\n'
            f'[projects."{project}"]\ntrust_level = "trusted"\n'
        )
        relay = (sys.executable, "-m", "trayagent", "run", "--", str(installed(agent)))
        words = ["env", *(f"{name}={value}" for name, value in environment.items()), *relay]
        self._pane = server.new_session("agent", IDLE, 120, 40)
        server.tmux("respawn-pane", "-k", "-t", self._pane, "-c", str(project), shlex.join(words))
        daemon.accept()

    def press(self, *keys: str) -> None:
        """Press keys, as a person would."""
        self._server.tmux("send-keys", "-t", self._pane, *keys)

    def until(self, *states: bytes) -> None:
        """Return once the agent's own words were these states, repetitions left out."""
        end = time.monotonic() + 120
        while self._states() != list(states):
            assert time.monotonic() < end, f"{self._states()}\n{self._server.screen(self._pane)}"
            frame = self._daemon.frame()
            assert frame is not None, f"it ended; {self._states()}"
            if frame[0] == wire.OUTPUT:
                self._said += frame[3]

    def _states(self) -> list[bytes]:
        found = STATE.findall(self._said)
        return [state for number, state in enumerate(found) if found[number - 1 : number] != [state]]


@pytest.fixture
def place() -> Iterator[tuple[TmuxServer, Path, FakeDaemon]]:
    # An agent that is hung up still writes into its home for a moment.
    home = tempfile.TemporaryDirectory(prefix="agents-", ignore_cleanup_errors=True)
    with home as folder, TmuxServer("agents") as server:
        (Path(folder) / "trayagent").mkdir(mode=0o700)
        with listening(Path(folder)) as daemon:
            yield server, Path(folder), daemon


def test_claude_speaks_osc_7501_inside_of_tmux(place: tuple[TmuxServer, Path, FakeDaemon]):
    desk = Desk("claude", *place)
    desk.until(b"idle")
    time.sleep(1)  # it takes no keys for a moment after it has said so
    desk.press("hello")
    desk.press("Enter")
    desk.until(b"idle", b"working")
    desk.press("Escape")
    desk.until(b"idle", b"working", b"idle")


def test_codex_speaks_osc_7501_inside_of_tmux(place: tuple[TmuxServer, Path, FakeDaemon]):
    Desk("codex", *place).until(b"idle")
