"""What the command line asks of the daemon."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Options:
    """only_server: a tmux socket, the only one to be watched. config: another file than the
    user's. tray: show an icon. live: a line on the terminal that says what is watched.
    runtime, state: other folders than the user's own for the socket, and for what is kept."""

    only_server: Path | None = None
    config: Path | None = None
    tray: bool = True
    verbose: bool = False
    live: bool = False
    runtime: Path | None = None
    state: Path | None = None


def state_folder(options: Options) -> Path:
    """Where ledger, log and the menu's choices are kept."""
    return options.state or Path(platformdirs.user_state_dir("trayagent"))
