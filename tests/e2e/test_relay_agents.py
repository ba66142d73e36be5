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

PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.328",
    "codex": "@openai/codex@0.169.0",
    "vibe": "mistral-vibe",
}
NOBODY = "http://127.0.0.1:9"
STATE = re.compile(rb"\x1b\]7501;state=([a-z]+)")


def installed(agent: str) -> Path:
    """The agent's program; skips where it cannot be had."""
    folder = Path(tempfile.gettempdir()) / f"trayagent-agents-{os.getuid()}" / agent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _from_pypi(folder) if agent == "vibe" else _from_npm(agent, folder)


def _from_npm(agent: str, folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"no npm here, hence no {agent}")
    program = folder / "node_modules" / ".bin" / agent
    if not program.exists():
        (folder / "package.json").write_text("{}")
        _install(npm, "install", "--no-audit", "--no-fund", PACKAGES[agent], folder=folder)
        binary = folder / "node_modules" / "@anthropic-ai" / "claude-code" / "install.cjs"
        if binary.exists():  # where npm runs no install scripts
            _install("node", str(binary), folder=folder)
    return program


def _from_pypi(folder: Path) -> Path:
    names = (sys.executable, "python3", "python3.14", "python3.13", "python3.12")
    new = "import sys, ensurepip; sys.exit(sys.version_info < (3, 12))"
    there = [name for name in names if shutil.which(name)]
    fit = [name for name in there if subprocess.run([name, "-c", new], capture_output=True).returncode == 0]
    if not fit:
        pytest.skip("no Python 3.12 with venv here, hence no vibe")
    if not (folder / "bin" / "vibe").exists():
        _install(fit[0], "-m", "venv", str(folder), folder=folder)
        pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "-q")
        _install(*pip, PACKAGES["vibe"], folder=folder)
    return folder / "bin" / "vibe"


def _install(*command: str, folder: Path) -> None:
    got = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if got.returncode != 0:
        pytest.skip(f"{' '.join(command)} failed here: {got.stderr.strip()[-200:]}")


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
            "MISTRAL_API_KEY": "none",
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
        (home / ".vibe").mkdir()
        (home / ".vibe" / "config.toml").write_text(
            f'active_model = "none"\nenable_telemetry = false\nenable_update_checks = false\n'
            f'[[providers]]\nname = "nobody"\napi_base = "{NOBODY}/v1"\napi_key_env_var = "NOBODYS_KEY"\n'
            f'backend = "generic"\n[[models]]\nname = "none"\nalias = "none"\nprovider = "nobody"\n'
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


def test_vibe_speaks_osc_7501_inside_of_tmux(place: tuple[TmuxServer, Path, FakeDaemon]):
    desk = Desk("vibe", *place)
    desk.until(b"idle")
    time.sleep(1)
    desk.press("hello")
    desk.press("Enter")
    desk.until(b"idle", b"working")
