"""A private tmux server in which recorded agents play; gone without a trace, however its maker ends.

Everything lies in one folder of our own: the socket (beside `.trayagent-ignore`, so that no daemon
watches it unasked), a project folder for each agent, and a FIFO that this process holds
open. The players end when nobody holds it any more, even if we were killed; with the last of them
tmux ends by itself, and they take the folder along.

The server gets no configuration and no environment of the user's but HOME and PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from trayagent.demo import player
from trayagent.demo.story import Act

COLUMNS, ROWS = 120, 40  # of the recordings
PATIENCE = 10.0  # seconds for one tmux command
_CONF = """\
set -g status-left " trayagent demo: a recording "
set -g status-left-length 40
set -g status-right " detach: Ctrl-b d "
"""


class StageError(Exception):
    """tmux did not do as it was told; str() says how."""


class Stage:
    """acts: who plays. tmux: the program. base: the folder in which the stage's own folder is made."""

    def __init__(self, acts: Sequence[Act], tmux: str, base: Path) -> None:
        self._acts, self._tmux, self._base = acts, tmux, base
        self._alive = -1
        self._panes: dict[str, str] = {}
        self.folder = Path()

    @property
    def socket(self) -> Path:
        """The server's."""
        return self.folder / "tmux"

    # -- life ------------------------------------------------------------------------------

    def __enter__(self) -> Stage:
        self.folder = Path(tempfile.mkdtemp(prefix="trayagent-demo-", dir=self._base))
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server and remove the folder; a second call does nothing."""
        if self._alive < 0:
            return
        try:
            self._ask("kill-server")
        except StageError:  # it has ended by itself; the players do so when the FIFO is let go of
            self._panes.clear()
        os.close(self._alive)
        self._alive = -1
        shutil.rmtree(self.folder, ignore_errors=True)

    def _build(self) -> None:
        alive = self.folder / "alive"
        os.mkfifo(alive, 0o600)
        # For reading too: to open it for writing alone waits until somebody reads.
        self._alive = os.open(alive, os.O_RDWR)
        (self.folder / player.MARK).touch()
        (self.folder / "tmux.conf").write_text(_CONF)
        for act in self._acts:
            project = self.folder / act.project
            (project / ".git").mkdir(parents=True)
            (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            argv = [sys.executable, "-S", "-E", player.__file__, act.agent, str(act.cast), str(alive)]
            size = ("-x", str(COLUMNS), "-y", str(ROWS))
            pane = self._ask(
                *("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", act.project, "-n", act.agent),
                *(*size, "-c", str(project), *argv),
            ).strip()
            # For good, whoever attaches: a recording is drawn for one size. (Set for all windows
            # beforehand, `window-size manual` crashes tmux 3.3a.)
            self._ask("resize-window", "-t", pane, *size)
            self._panes[act.agent] = pane

    # -- hands -----------------------------------------------------------------------------

    def press(self, agent: str, key: str = "Enter") -> None:
        """Press a key in an agent's pane: what its recording waits for. Raises StageError."""
        self._ask("send-keys", "-t", self._panes[agent], key)

    def pane(self, agent: str) -> str:
        """The pane's id."""
        return self._panes[agent]

    def _ask(self, *args: str) -> str:
        env = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        argv = [self._tmux, "-u", "-f", str(self.folder / "tmux.conf"), "-S", str(self.socket), *args]
        try:
            done = subprocess.run(
                argv,
                env=env | {"LC_ALL": "C.UTF-8", "TERM": "screen"},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StageError(f"{self._tmux} {args[0]}: {error}") from error
        if done.returncode:
            raise StageError(f"{self._tmux} {args[0]}: {done.stderr.strip() or f'status {done.returncode}'}")
        return done.stdout
