"""From one publisher to any number of streams, none of which can hold the others up.

Each subscriber has its own bounded queue. What a slow one misses is dropped and counted, and it
is told so with an item `{"dropped": n}`; with `latest` only the newest item is kept, silently.
"""

from __future__ import annotations

import asyncio
from collections import deque

from trayagent.ipc.schema import Json


class Subscription:
    """The items published since it was made, as an async iterator; `aclose` ends it."""

    def __init__(self, home: set[Subscription], limit: int, count_drops: bool) -> None:
        self._home, self._count_drops = home, count_drops
        self._items: deque[Json] = deque(maxlen=limit)
        self._ready = asyncio.Event()
        self._dropped = 0

    def put(self, item: Json) -> None:
        """Queue the item; the oldest gives way where the queue is full."""
        if len(self._items) == self._items.maxlen and self._count_drops:
            self._dropped += 1
        self._items.append(item)
        self._ready.set()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Json:
        await self._ready.wait()
        if self not in self._home:
            raise StopAsyncIteration
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            return {"dropped": dropped}
        item = self._items.popleft()
        if not self._items:
            self._ready.clear()
        return item

    async def aclose(self) -> None:
        """Leave the broadcast; whoever waits for the next item gets the end."""
        self._home.discard(self)
        self._ready.set()


class Broadcast:
    """Items for all who subscribed before they were published. Use from the loop's thread only."""

    def __init__(self, *, limit: int = 1000, latest: bool = False) -> None:
        self._limit, self._count_drops = (1 if latest else limit), not latest
        self._subscriptions: set[Subscription] = set()

    def __len__(self) -> int:
        """How many subscribers there are; with none, building an item is wasted work."""
        return len(self._subscriptions)

    def publish(self, item: Json) -> None:
        """Hand the item to every subscriber; never waits."""
        for subscription in self._subscriptions:
            subscription.put(item)

    def subscribe(self, first: Json | None = None) -> Subscription:
        """The items from this moment on, `first` before them."""
        subscription = Subscription(self._subscriptions, self._limit, self._count_drops)
        self._subscriptions.add(subscription)
        if first is not None:
            subscription.put(first)
        return subscription
