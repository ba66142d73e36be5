"""`wait`: a pane's state now, and each state that it comes into, until the one who asks has enough.

Every transition is an item, so that a `done` which somebody sees at once, and which is idle a moment
later, is not missed. A pane need not exist yet: its first item says that it is not listed.
Waiting, and for how long, is the asker's own business; he hangs up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from trayagent.ipc.broadcast import Broadcast
from trayagent.ipc.panes import find_pane, pane_name
from trayagent.ipc.schema import Json, VerbError
from trayagent.model.effects import Effect, RecordGone, RecordTransition
from trayagent.model.keys import PaneKey
from trayagent.model.view import PaneView

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

GONE = "gone"


class Waiting:
    """All who wait."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._news = Broadcast()
        parts.ends.watchers.append(self._effect)

    def _effect(self, effect: Effect) -> None:
        if not len(self._news):
            return
        if isinstance(effect, RecordTransition):
            change = effect.transition
            self._news.publish({"key": change.pane, "state": change.after.value})
        elif isinstance(effect, RecordGone):
            self._news.publish({"key": effect.pane, "state": GONE})

    def follow(self, args: Json) -> AsyncIterator[Json]:
        """The stream of one who waits. Raises VerbError where the arguments mean several panes."""
        view = self._find(args)
        return self._follow(args, view, self._news.subscribe())

    async def _follow(
        self, args: Json, view: PaneView | None, news: AsyncIterator[Json]
    ) -> AsyncIterator[Json]:
        key: PaneKey | None = view.key if view else None
        name = pane_name(view) if view else ""
        yield {"pane": name, "state": view.state.value if view else GONE}
        try:
            async for item in news:
                if key is None:
                    found = self._find(args)
                    key, name = (found.key, pane_name(found)) if found else (None, "")
                if key is not None and item.get("key") == key:
                    yield {"pane": name, "state": item["state"]}
                elif "dropped" in item:  # so much happened that some of it is lost: say what is now
                    found = self._find(args)
                    yield {"pane": name, "state": found.state.value if found else GONE}
        finally:
            await news.aclose()  # type: ignore[attr-defined]

    def _find(self, args: Json) -> PaneView | None:
        try:
            return find_pane(self._parts.views(), args)
        except VerbError as error:
            if error.code != "no-pane":
                raise
            return None
