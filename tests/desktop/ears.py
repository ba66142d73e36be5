"""Collects what a backend of the desktop reports, and lets a test wait for it."""

from __future__ import annotations

import asyncio
from typing import Any


async def eventually(done: Any, what: str, timeout: float = 15.0) -> None:
    """Wait until `done()` is true, for what brings no event."""
    try:
        async with asyncio.timeout(timeout):
            while not done():  # noqa: ASYNC110 (nothing tells)
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within {timeout:g} s: {what}") from None


class Ears:
    """events: all that was emitted. actions: (alert, action, token) of banners."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.actions: list[tuple[int, str, str | None]] = []
        self._news = asyncio.Event()

    def hear(self, event: Any) -> None:
        """The `emit` of a backend."""
        self.events.append(event)
        self._news.set()

    def act(self, alert: int, action: str, token: str | None) -> None:
        """The `on_action` of a notifier."""
        self.actions.append((alert, action, token))
        self._news.set()

    async def until(self, done: Any, what: str, timeout: float = 15.0) -> None:
        """Wait until `done()` is true; it is asked anew after each event."""
        try:
            async with asyncio.timeout(timeout):
                while not done():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(
                f"not within {timeout:g} s: {what}; heard {self.events} {self.actions}"
            ) from None

    async def event(self, wanted: Any, timeout: float = 15.0) -> None:
        """Wait until an event equal to `wanted` has been emitted."""
        await self.until(lambda: wanted in self.events, f"{wanted}", timeout)
