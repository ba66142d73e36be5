"""What the command line asks of the daemon."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """only_server: a tmux socket, the only one to be watched. config: another file than the
    user's. tray: show an icon. live: a line on the terminal that says what is watched.
    manifests: another user folder of manifests. ledger: another ledger file."""

    only_server: Path | None = None
    config: Path | None = None
    tray: bool = True
    verbose: bool = False
    live: bool = False
    runtime: Path | None = None
    state: Path | None = None
