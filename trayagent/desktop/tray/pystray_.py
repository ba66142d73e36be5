"""The tray by pystray: macOS, Windows, and XEmbed trays on Linux (trayer, tint2; needs PyGObject).

Theory of operation. pystray lives in a process of its own (pystray_child.py): its toolkits want
the main thread, some never come back, and none can then keep the daemon from working or ending. What to
show goes to it as lines of JSON, only what changed, and only once it said that it is ready; a click comes
back as a number. A number stands for one action for ever, so a click in a menu that was drawn
before the last change does what its row said.

A process that is not ready within READY seconds, does not read, or ends is a problem, told once; it is
started anew every RETRY seconds, unless it said itself that pystray cannot serve here. pystray does
not tell when a menu opens: it is redrawn as it changes, and an open one may close by that.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trayagent.desktop.tray import base
from trayagent.desktop.tray.icons import Icons, Pixmap, icon_name
from trayagent.model.view import MenuItem, TrayView

log = logging.getLogger(__name__)

CHILD = Path(__file__).with_name("pystray_child.py")
READY = 15.0
RETRY = 30.0
CLOSING = 2.0
UNREAD = 1 << 20  # bytes that wait for the process: it does not read any more
SIZE = 64  # pixels; systems make them smaller as they need
LONGEST_TITLE = 127  # szTip of NOTIFYICONDATA, without its NUL


class PystrayTray(base.Tray):
    """The tray in a process. command: starts it, by default our own interpreter; retry: seconds."""

    def __init__(
        self,
        on_action: Callable[[base.Action], None],
        *,
        on_about_to_show: Callable[[], None] | None = None,
        on_problem: Callable[[str], None] | None = None,
        icons: Icons | None = None,
        environ: Mapping[str, str] | None = None,
        command: Sequence[str] = (sys.executable, "-P", str(CHILD)),
        ready: float = READY,
        retry: float = RETRY,
    ) -> None:
        super().__init__(on_action, on_about_to_show=on_about_to_show, on_problem=on_problem)
        self._icons = icons or Icons()
        self._environ = dict(os.environ if environ is None else environ)
        self._command, self._ready_within, self._retry = tuple(command), ready, retry
        self._view = TrayView()
        self._sent: dict[str, Any] = {}
        self._numbers: dict[base.Action, int] = {}
        self._actions: dict[int, base.Action] = {}
        self._count = itertools.count(1)
        self._process: asyncio.subprocess.Process | None = None
        self._ready = False
        self._answered = asyncio.Event()  # it is ready, or it is known that it will not be
        self._clicks = True
        self._problem = self._told = ""
        self._refused = False
        self._work: asyncio.Task[None] | None = None

    # -- the interface -----------------------------------------------------------------------

    @property
    def capabilities(self) -> frozenset[str]:
        """A menu and a tooltip; a click where the backend in use has one beside the menu."""
        return frozenset({base.MENU, base.TOOLTIP} | ({base.CLICK} if self._clicks else set()))

    def start(self) -> None:
        """Start the process; further calls do nothing."""
        self._check_thread()
        if self._work is None:
            self._work = asyncio.get_running_loop().create_task(self._keep(), name="tray")

    def show(self, view: TrayView) -> None:
        """Tell the process what changed."""
        self._check_thread()
        self._view = view
        if self._ready:
            self._tell()

    def problems(self) -> tuple[str, ...]:
        """Why there is no icon."""
        return (self._problem,) if self._problem else ()

    @property
    def drawn(self) -> bool:
        """pystray's loop runs; whether a tray takes its icon it does not say."""
        return self._ready

    async def settled(self, timeout: float) -> bool:
        """See Tray.settled."""
        try:
            async with asyncio.timeout(timeout):
                await self._answered.wait()
        except TimeoutError:
            log.debug("pystray is not ready within %g s", timeout)
        return self._ready

    async def close(self) -> None:
        """Take the icon away; a process that does not end is killed."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    # -- the process -----------------------------------------------------------------------

    async def _keep(self) -> None:
        """Have one process at a time, again and again."""
        if getattr(sys, "frozen", False):
            self._fail("a frozen program has no interpreter for pystray")
            return
        while not self._refused:
            try:
                why = await self._one()
            except OSError as error:
                why = f"pystray's process cannot be started: {error}"
            self._fail(why)
            if not self._refused:
                await asyncio.sleep(self._retry)

    async def _one(self) -> str:
        """One process from start to end; why it ended."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environ,
        )
        self._process, self._sent = process, {}
        try:
            async with asyncio.timeout(self._ready_within) as limit:
                assert process.stdout is not None
                async for line in process.stdout:
                    self._hear(json.loads(line))
                    if self._ready:
                        limit.reschedule(None)
        except TimeoutError:
            return f"pystray is not ready within {self._ready_within:g} s"
        except ValueError as error:  # a line too long, or no JSON: not our child
            return f"pystray's process says what makes no sense: {error}"
        finally:
            self._ready, self._process = False, None
            await _end(process)
        return self._problem if self._refused else f"pystray's process ended with {process.returncode}"

    def _hear(self, message: dict[str, Any]) -> None:
        if "refused" in message:
            self._refused, self._problem = True, str(message["refused"])
        elif "ready" in message:
            self._clicks = bool(message["ready"]["click"])
            self._ready, self._problem, self._told = True, "", ""
            self._answered.set()
            self._tell()
        elif "clicked" in message:
            self._act(self._actions.get(message["clicked"], ()))

    def _fail(self, why: str) -> None:
        self._problem = why
        self._answered.set()
        if self._told != why:
            self._told = why
            self._report(why)

    # -- what it shows -----------------------------------------------------------------------

    def _tell(self) -> None:
        """Send what differs from what was sent last."""
        wanted = self._wanted()
        changed = {name: value for name, value in wanted.items() if self._sent.get(name) != value}
        pipe = self._process.stdin if self._process is not None else None
        if not changed or pipe is None or pipe.is_closing():
            return
        if self._process is not None and pipe.transport.get_write_buffer_size() > UNREAD:
            log.warning("pystray's process does not read; it is ended")
            self._process.kill()
            return
        self._sent = wanted
        if "icon" in changed:
            pixmap = _largest(self._icons.pixmaps(changed["icon"]))
            if pixmap is None:
                del changed["icon"]
            else:
                changed["icon"] = [pixmap[0], pixmap[1], base64.b64encode(_rgba(pixmap[2])).decode()]
        pipe.write(json.dumps(changed).encode() + b"\n")

    def _wanted(self) -> dict[str, Any]:
        view = self._view
        return {
            "icon": icon_name(view),
            "title": (view.tooltip or view.title)[:LONGEST_TITLE],
            "click": self._number(view.click),
            "menu": [self._row(item) for item in view.menu],
        }

    def _row(self, item: MenuItem) -> dict[str, Any]:
        if item.separator:
            return {}
        row: dict[str, Any] = {"label": item.label, "enabled": item.enabled}
        if item.children:
            row["children"] = [self._row(child) for child in item.children]
        elif item.action:
            row["number"] = self._number(item.action)
        if item.toggle:
            row |= {"toggle": item.toggle, "checked": item.checked}
        return row

    def _number(self, action: base.Action) -> int:
        """The number of an action, the same for ever."""
        if action not in self._numbers:
            number = self._numbers[action] = next(self._count)
            self._actions[number] = action
        return self._numbers[action]


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it by the end of its input, else by force."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(CLOSING if process.returncode is None else 0):
            await process.wait()
    except (TimeoutError, asyncio.CancelledError):
        if process.returncode is None:
            process.kill()
        await process.wait()


def _largest(pixmaps: list[Pixmap]) -> Pixmap | None:
    """The largest that is no larger than SIZE."""
    return max((each for each in pixmaps if each[0] <= SIZE), key=lambda each: each[0], default=None)


def _rgba(argb: bytes) -> bytes:
    """The same pixels with their alpha last."""
    pixels = bytearray(len(argb))
    for channel in range(3):
        pixels[channel::4] = argb[channel + 1 :: 4]
    pixels[3::4] = argb[::4]
    return bytes(pixels)
