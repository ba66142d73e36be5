"""Plays sounds through the first player that can, each a child process with a deadline.

Theory of operation. `play` returns at once. The players are tried in the order of the table, the
one that worked last time first, until one ends well. A player that has not ended MARGIN after
the clip's end is killed with its whole process group, and reaped. One sound at a time:
what is asked for while one is heard is dropped (the alerts keep their own, longer gap). If no player
can, that is said once, and again only after one could meanwhile; and as trying them all costs a tenth of
a second of CPU, no alert tries again within a minute if it was not the file's fault.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from trayagent.desktop.sound import wav
from trayagent.desktop.sound.base import Clip, Command, Player, Unplayable
from trayagent.desktop.sound.players import PLAYERS

log = logging.getLogger(__name__)

LONGEST = 10.0  # seconds of a file that are played at most
MARGIN = 4.0  # seconds: start of the player, and sound servers that buffer two seconds
GUARD = 0.5  # seconds between two sounds at least
REST = 60.0  # seconds without a try after no player could play a file that is sound
REASON = 65536  # bytes of a player's complaints that are kept: a pipe's capacity


class SoundPlayer:
    """say: told once when no sound can be played, by default the log."""

    def __init__(self, say: Callable[[str], None] | None = None, players: Sequence[Player] = PLAYERS) -> None:
        self._say = say or (lambda text: log.warning("%s", text))
        self._players = list(players)
        self._task: asyncio.Task[None] | None = None
        self._free_at = 0.0  # loop time
        self._rest_until = 0.0
        self._problem = ""
        self.last = ""  # the player that played last

    def play(self, path: Path, volume: float, *, asked: bool = False) -> bool:
        """Play a file; volume: factor of the amplitude, 0 to 1, below and above are cut. asked: a person
        waits for it, so it is tried even if nothing could be played a moment ago. False: another sound
        is heard, or nothing could be, and this one is dropped. Needs a loop; never blocks, never raises."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._free_at or (self._task is not None and not self._task.done()):
            return False
        if loop.time() < self._rest_until and not asked:
            return False
        self._free_at = loop.time() + GUARD
        volume = min(max(volume, 0.0), 1.0)
        if volume > 0:
            self._task = loop.create_task(self._play(path.absolute(), volume))
        return True

    async def wait(self) -> None:
        """Until the present sound is over; for `sounds test`."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """End the sound that is heard."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def available(self) -> tuple[str, ...]:
        """The players whose programs are there, for `doctor`."""
        return tuple(player.name for player in self._players if _present(player))

    def problems(self) -> tuple[str, ...]:
        """Why the last sound was not played, if it was not."""
        return (self._problem,) if self._problem else ()

    # -- one sound ---------------------------------------------------------------------------

    async def _play(self, path: Path, volume: float) -> None:
        try:
            clip = Clip(path, volume, LONGEST, wav.length(path))
        except OSError as error:
            self._failed(f"the sound {path} cannot be read: {error.strerror}")
            return
        reasons = []
        for player in tuple(self._players):
            try:
                why = await self._try(player, clip)
            except TimeoutError:
                self._ended(player, clip)
                return
            if not why:
                self._worked(player)
                return
            reasons.append(f"{player.name}: {why}")
        if clip.length is not None:  # we can read it ourselves: it is a matter of devices and players
            self._rest_until = asyncio.get_running_loop().time() + REST
        self._failed(f"no sound could be played ({'; '.join(reasons)})")

    def _worked(self, player: Player) -> None:
        self._players.remove(player)
        self._players.insert(0, player)
        self._problem, self.last = "", player.name

    def _ended(self, player: Player, clip: Clip) -> None:
        """It was killed. With a file that is too long this is how it should be; else it hangs, and comes
        last from now on. No other player is tried: something may have been heard."""
        if clip.length is not None and clip.length > clip.seconds:
            self._worked(player)
            return
        self._players.remove(player)
        self._players.append(player)
        self._failed(f"{player.name} did not end with its sound, and was ended")

    def _failed(self, why: str) -> None:
        if not self._problem:
            self._say(why)
        self._problem = why

    async def _try(self, player: Player, clip: Clip) -> str:
        """Why this player did not play it, "" if it did; raises TimeoutError after killing it."""
        if not _present(player):
            return "not installed"
        try:
            command = player.command(clip)
            seconds = min(clip.length if clip.length is not None else clip.seconds, clip.seconds)
            return await _run(command, seconds + MARGIN)
        except Unplayable as error:
            return str(error)
        except TimeoutError:  # an OSError too
            raise
        except OSError as error:
            return error.strerror or str(error)


def _present(player: Player) -> bool:
    return not player.program or shutil.which(player.program) is not None


async def _run(command: Command, deadline: float) -> str:
    """Run a player to its end: why it failed, "" if it did not. Raises OSError if it cannot be
    started, and TimeoutError if it had to be ended.

    Its input is a file and its complaints are a pipe that nobody reads before its end: one that floods it
    waits until its deadline, and nothing that it leaves behind can keep us waiting."""
    reader, writer = os.pipe()
    try:
        with tempfile.TemporaryFile() as stdin:
            stdin.write(command.stdin)
            stdin.seek(0)
            process = await asyncio.create_subprocess_exec(
                *command.argv, stdin=stdin, stdout=subprocess.DEVNULL, stderr=writer, start_new_session=True
            )
        try:
            async with asyncio.timeout(deadline):
                status = await process.wait()
        finally:
            await _end(process)
        return "" if status == 0 else _complaint(reader) or f"ended with status {status}"
    finally:
        os.close(reader)
        os.close(writer)


def _complaint(reader: int) -> str:
    """The last line of what lies in the pipe."""
    os.set_blocking(reader, False)
    try:
        said = os.read(reader, REASON)
    except BlockingIOError:
        return ""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the player's process group, and reap the player."""
    if process.returncode is None:
        try:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            log.debug("the player ended just now")
        await process.wait()
