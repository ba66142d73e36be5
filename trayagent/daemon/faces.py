"""Tray and banners: what a person sees of the daemon, as the settings name their backends.

A setting that changes while the daemon runs takes effect at once: the old part is ended, the new
one is started and shown what the old one showed. One change at a time, in order.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trayagent import resources
from trayagent.desktop.notify.base import Notifier
from trayagent.desktop.notify.choose import notifier
from trayagent.desktop.tray.base import Tray
from trayagent.desktop.tray.choose import tray as tray_of
from trayagent.model.effects import Tray as ShowTray
from trayagent.model.events import MenuOpening
from trayagent.model.view import TrayView

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

ICON_SECONDS = 0.4  # for which everything else waits until the icon is there


class Faces:
    """tray: None where it is switched off. view: what the tray shows, or would show."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.view = TrayView()
        self._made_for = parts.settings.notify, parts.settings.tray.backend
        self._turn = asyncio.Lock()
        self.notifier = self._make_notifier()
        self.tray = self._make_tray()

    def _make_notifier(self) -> Notifier:
        icon = str(resources.folder("icons") / "hicolor" / "48x48" / "apps" / "trayagent.png")
        parts = self._parts
        return notifier(parts.settings.notify, parts.bus, parts.feed, parts.pressed, icon=icon)

    def _make_tray(self) -> Tray | None:
        parts = self._parts
        if not parts.options.tray:
            return None
        return tray_of(
            parts.settings.tray.backend,
            parts.bus,
            lambda action: parts.actions.act(action, self.tray.take_token() if self.tray else None),
            on_about_to_show=lambda: parts.feed(MenuOpening()),
            on_problem=self._unseen,
        )

    def _unseen(self, problem: str) -> None:
        self._parts.report("tray", problem)
        self._parts.actions.errands.tell("trayagent has no place for its icon", problem)

    # -- life ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Show the icon, and come back once it is there or nobody takes it: a person waits for it,
        and what comes next takes the processor for itself."""
        if self.tray is not None:
            self.tray.start()
            self.tray.show(self.view)
            await self.tray.settled(ICON_SECONDS)
        self.notifier.start()

    async def apply(self) -> None:
        """Follow the settings."""
        async with self._turn:
            wanted = self._parts.settings.notify, self._parts.settings.tray.backend
            before, self._made_for = self._made_for, wanted
            if wanted[0] != before[0]:
                await self.notifier.stop()
                self.notifier = self._make_notifier()
                self.notifier.start()
            if wanted[1] != before[1]:
                await self._close_tray()
                self.tray = self._make_tray()
                if self.tray is not None:
                    self.tray.start()
                    self.tray.show(self.view)

    async def close(self) -> None:
        """End both."""
        async with self._turn:
            await self.notifier.stop()
            await self._close_tray()

    async def _close_tray(self) -> None:
        tray, self.tray = self.tray, None
        if tray is not None:
            await tray.close()

    def notice(self, effect: ShowTray) -> None:
        """Show what the tray is to show now."""
        self.view = effect.view
        if self.tray is not None:
            self.tray.show(effect.view)
