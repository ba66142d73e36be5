"""A recording played in a terminal by a process that is named like the agent. Standard library only.

    python player.py AGENT CAST ALIVE

It runs itself again with the agent's name as its first argument (and as the kernel's name for
it), for that is by what an agent is recognised. Then it writes what the recording shows, when it shows
it; at a marker event `key` it waits until somebody presses one. At the end it stays, as an agent does.

ALIVE is a FIFO that those who play hold open for writing. When nobody does any more, however they ended,
the player ends, and takes the folder of the FIFO with it.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
import tty
from pathlib import Path

AS = "TRAYAGENT_DEMO_PLAYER"  # set where the name is right already
MARK = ".trayagent-ignore"  # lies in every folder that may be taken away
# What is no key: answers to a terminal's queries, arrows and other keys that scroll.
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|O.)")


class Gone(Exception):
    """Nobody plays any more, or the terminal has gone."""


class Player:
    """Standard input and output. alive: descriptor of the FIFO."""

    def __init__(self, alive: int) -> None:
        self._alive = alive

    def play(self, cast: Path) -> None:
        """Play to the end, and stay. Raises Gone."""
        began = time.monotonic()
        with cast.open(encoding="utf-8") as lines:
            next(lines)
            for line in lines:
                at, code, data = json.loads(line)
                if code == "m":
                    self.wait(None)
                    began = time.monotonic() - at
                else:
                    self.wait(began + at)
                    self._write(data.encode())
        while True:
            self.wait(None)

    def wait(self, moment: float | None) -> None:
        """Wait until a monotonic second; None: until a key. Raises Gone."""
        while moment is None or moment > time.monotonic():
            left = None if moment is None else max(0.0, moment - time.monotonic())
            ready, _, _ = select.select([0, self._alive], [], [], left)
            if self._alive in ready:
                raise Gone
            if 0 in ready and self._key() and moment is None:
                return

    def _key(self) -> bool:
        """Take what was typed; whether a key was among it. Raises Gone when the terminal is."""
        data = os.read(0, 4096)
        if not data:
            raise Gone
        return bool(_SEQUENCE.sub(b"", data))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]


def rename(agent: str) -> None:
    """Run this file again under the agent's name."""
    home = f"{sys.base_prefix}:{sys.base_exec_prefix}"  # which Python would look for by its own name
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    os.execve(
        sys.executable,
        [agent, "-S", "-s", __file__, *sys.argv[1:]],
        {**kept, AS: agent, "PYTHONHOME": home, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def main() -> None:
    """The program."""
    agent, cast, alive = sys.argv[1:]
    if AS not in os.environ:
        rename(agent)
    name = Path("/proc/self/comm")
    if name.exists():
        name.write_text(agent)
    tty.setraw(0)
    try:
        descriptor = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
        if held(descriptor):
            Player(descriptor).play(Path(cast))
    except (Gone, OSError) as end:  # OSError: FIFO or terminal have gone already
        reason = str(end)
    else:
        reason = "nobody held the FIFO"
    clear(Path(alive).parent)
    sys.exit(reason)


def held(alive: int) -> bool:
    """Whether somebody holds the FIFO open for writing."""
    try:
        return os.read(alive, 1) != b""
    except BlockingIOError:
        return True


def clear(folder: Path) -> None:
    """Take the folder away. Several players may do so at once."""
    if (folder / MARK).exists():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
