"""Banners through plyer, where there is no D-Bus (macOS, Windows): shown, and no more.

plyer cannot take a banner back, tells no clicks, and may block for as long as the program behind it does.
Each call has a thread of its own and WAIT seconds; while STUCK threads hang, further
banners fail at once. Its backends trust their input, so the text is made harmless here: Windows raises
for long titles, `notify-send` reads a leading dash as an option, and the portal
backend pastes the text between single quotes.
"""

from __future__ import annotations

import asyncio
import logging
import threading

from trayagent.desktop.notify import text
from trayagent.desktop.notify.base import Capabilities, Emit, Notifier, OnAction
from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerFailed, BannerShown

log = logging.getLogger(__name__)

WAIT = 5.0
STUCK = 2
LONGEST_TITLE = 63  # szInfoTitle of NOTIFYICONDATA, without its NUL
LONGEST_BODY = 255  # szInfo
ON_SCREEN = {"low": 5, "normal": 10, "critical": 60}  # seconds


def _harmless(plain: str) -> str:
    plain = plain.replace("'", "\u2019").replace("\\", "\u2216")
    return " " + plain if plain.startswith("-") else plain


class PlyerNotifier(Notifier):
    """Whatever plyer finds on this system."""

    name = "plyer"

    def __init__(self, emit: Emit, on_action: OnAction) -> None:
        super().__init__(emit, on_action)
        self._threads: set[threading.Thread] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._problem = ""

    def show(self, banner: Banner) -> None:
        """Hand the banner to plyer in a thread."""
        task = asyncio.get_running_loop().create_task(self._show(banner))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self, effect: CloseBanner) -> None:
        """Not possible with plyer; the banner goes by itself."""

    @property
    def capabilities(self) -> Capabilities:
        """No actions, no markup, nothing to close."""
        return Capabilities(server="plyer")

    def problems(self) -> tuple[str, ...]:
        """Why the last banner failed, until one succeeds."""
        return (self._problem,) if self._problem else ()

    async def stop(self) -> None:
        """Wait for nobody: threads that hang are left to the end of the process."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _show(self, banner: Banner) -> None:
        why = await self._try(banner)
        self._problem = why
        self._emit(BannerFailed(banner.alert, why) if why else BannerShown(banner.alert))

    async def _try(self, banner: Banner) -> str:
        """Why it failed, "" if it did not."""
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        if len(self._threads) >= STUCK:
            return "plyer hangs"
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[str] = loop.create_future()

        def tell(why: str) -> None:
            if not outcome.done():
                outcome.set_result(why)

        def work() -> None:
            why = _call(banner)
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, why)

        thread = threading.Thread(target=work, name="plyer", daemon=True)
        self._threads.add(thread)
        thread.start()
        try:
            return await asyncio.wait_for(outcome, WAIT)
        except TimeoutError:
            return f"plyer does not return within {WAIT:g} s"


def _call(banner: Banner) -> str:
    """Runs in the thread. plyer's backends raise whatever their systems raise, hence the wide net."""
    try:
        from plyer import notification

        notification.notify(
            title=_harmless(text.title(banner.title, LONGEST_TITLE - 1)),
            message=_harmless(text.body(banner.body, LONGEST_BODY - 1)),
            app_name="trayagent",
            timeout=ON_SCREEN.get(banner.urgency, 10),
        )
    except NotImplementedError:
        return "plyer knows no way to show banners on this system"
    except Exception as error:
        return f"plyer: {type(error).__name__}: {error}"
    return ""
