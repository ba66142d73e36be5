"""`doctor --alert`: one whole alert, from a recorded agent's question to a click on its banner, step by step.

Each step is what happened, how long it took, and a verdict in the form of doctor's checks. The parts
are the daemon's own, on a stage of their own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from trayagent.daemon.check import Check
from trayagent.daemon.doctor_desktop import checks, known
from trayagent.daemon.parts import Parts
from trayagent.demo.parts import NotPlayed, Settings, parts_on, recognised
from trayagent.demo.stage import Stage
from trayagent.demo.story import STORY
from trayagent.model.effects import Banner, CloseBanner, Effect, RecordDelivery, RecordTransition
from trayagent.model.effects import Sound as SoundEffect
from trayagent.model.events import BannerClosed, BannerFailed, BannerShown, Event
from trayagent.model.states import State

ACT = next(act for act in STORY if act.ends is State.BLOCKED)
PATIENCE = 15.0  # seconds for a step that nobody has a hand in; tenths of a second as a rule
CLICK_SECONDS = 20.0
ICON_SECONDS = 2.0


class Trial:
    """One alert. settings: the person's own, as a config file's tree. clicks: somebody is there to click."""

    def __init__(self, stage: Stage, settings: Settings, *, clicks: bool) -> None:
        self._stage, self._settings, self._clicks = stage, settings, clicks
        self._news = asyncio.Event()
        self._seen: list[tuple[float, Any]] = []
        self._parts: Parts

    async def steps(self, ask: Callable[[str], None]) -> AsyncIterator[Check]:
        """The steps as they are done. ask: called with what the person should do now."""
        began = _now()
        async with parts_on(self._stage, self._settings, lambda why: None, self._attach) as parts:
            yield await self._icon(parts, began)
            try:
                await recognised(parts, [ACT])
            except NotPlayed as error:
                yield Check("agent", False, str(error))
                return
            yield Check("agent", True, f"a recorded {ACT.name} was recognised{_after(began)}")
            yield await self._focus(parts)
            pressed = _now()
            await asyncio.to_thread(self._stage.press, ACT.agent)
            blocked = await self._wait(_is_blocked)
            if blocked is None:
                yield Check("question", False, f"its question was not noticed within {PATIENCE:g} s")
                return
            drawn = pressed + question_after()
            late = max(0.0, blocked[0] - drawn)
            yield Check("question", True, f"its question was noticed {late:.2f} s after it could be read")
            async for step in self._told(parts, blocked[1].id, ask):
                yield step

    def _attach(self, parts: Parts) -> None:
        self._parts = parts
        parts.ends.watchers.append(self._note)
        parts.listeners.append(self._note)
        parts.presses.append(self._pressed)

    # -- steps -----------------------------------------------------------------------------

    async def _icon(self, parts: Parts, began: float) -> Check:
        await known(parts, ICON_SECONDS)
        drawn = parts.tray is not None and await parts.tray.settled(ICON_SECONDS)
        check = next(check for check in await checks(parts, alone=False) if check.name == "tray")
        return Check("icon", check.ok, f"{check.text}{_after(began) if drawn else ''}", check.hint)

    async def _focus(self, parts: Parts) -> Check:
        found = next(check for check in await checks(parts, alone=False) if check.name == "focus")
        idle = await parts.windows.idle_seconds()
        away = "" if idle is None else f"; the last input was {idle:.0f} s ago"
        return Check("focus", found.ok, f"{found.text}{away}", found.hint)

    async def _told(self, parts: Parts, number: int, ask: Callable[[str], None]) -> AsyncIterator[Check]:
        """Banner, sound, click, and that the banner goes. number: of the transition that is told."""
        due = await self._wait(lambda what: _is_due(what, number))
        if due is None:
            yield Check("banner", False, f"no alert came of it within {PATIENCE:g} s")
            return
        if isinstance(due[1], RecordDelivery):
            yield Check("banner", None, f"the alert is held: {due[1].reason}", "trayagent doctor says more")
            return
        shown = await self._wait(_is_answer)
        yield self._banner(parts, due[0], shown)
        yield await self._sound(parts)
        if shown is None or not isinstance(shown[1], BannerShown):
            return
        if parts.notifier.capabilities.actions:
            yield await self._click(ask)
        if self._first(_is_closed) is None:
            yield await self._gone()

    def _banner(self, parts: Parts, due: float, shown: tuple[float, Any] | None) -> Check:
        server = parts.notifier.capabilities.server or parts.notifier.name
        if shown is None:
            return Check("banner", False, f"{server} has not answered within {PATIENCE:g} s", "restart it")
        at, event = shown
        if isinstance(event, BannerFailed):
            return Check("banner", False, event.why, "trayagent doctor says what to do")
        took = f"{1000 * (at - due):.0f} ms"
        return Check("banner", True, f"{server} took it as number {event.id} within {took}")

    async def _sound(self, parts: Parts) -> Check:
        if not any(isinstance(what, SoundEffect) for _, what in self._seen):
            return Check("sound", None, "none was to be played")
        if parts.settings.sounds.mode not in ("audio", "both"):
            return Check("sound", None, f"not tried: sounds.mode is {parts.settings.sounds.mode}")
        began = _now()
        await parts.sound.wait()
        problems = parts.sound.problems()
        if problems:
            return Check("sound", False, problems[0], "trayagent doctor says what to do")
        return Check("sound", True, f"{parts.sound.last} played it to its end{_after(began, 'within')}")

    async def _click(self, ask: Callable[[str], None]) -> Check:
        """The action's round trip. Whoever closes the banner instead has answered too."""
        name = "click"
        if not self._clicks:
            return Check(name, None, "not tried: nobody is at this terminal who could click")
        ask(f"Please click on the banner (or its button Jump) within {CLICK_SECONDS:g} s.")
        began = _now()
        done = await self._wait(lambda what: isinstance(what, tuple | BannerClosed), CLICK_SECONDS)
        if done is None:
            return Check(name, None, f"nobody clicked within {CLICK_SECONDS:g} s; no fault")
        if isinstance(done[1], BannerClosed):
            by = "you closed it" if done[1].by == "user" else "its server took it away"
            return Check(name, None, f"{by}, and no click was heard", "a click of another button may be it")
        _, action, token = done[1]
        means = "with a token to raise a window" if token else "without a token (X11 needs none)"
        return Check(name, True, f"the click came back as `{action}`, {means}{_after(began)}")

    async def _gone(self) -> Check:
        """Answered in its pane, the banner goes."""
        await asyncio.to_thread(self._stage.press, ACT.agent)
        closing = await self._wait(lambda what: isinstance(what, CloseBanner) or _is_closed(what))
        if closing is None:
            return Check("end", False, f"the banner stays, though the question is answered ({PATIENCE:g} s)")
        return Check("end", True, "answered in its pane, its banner goes")

    # -- what happens ------------------------------------------------------------------------

    def _pressed(self, alert: int, action: str, token: str | None) -> bool:
        self._note((alert, action, token))
        return True

    def _note(self, what: Effect | Event | tuple[int, str, str | None]) -> None:
        self._seen.append((_now(), what))
        self._news.set()

    def _first(self, wanted: Callable[[Any], bool]) -> tuple[float, Any] | None:
        return next((row for row in self._seen if wanted(row[1])), None)

    async def _wait(
        self, wanted: Callable[[Any], bool], seconds: float = PATIENCE
    ) -> tuple[float, Any] | None:
        """The first of what happened that is wanted, with its moment; None after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while (found := self._first(wanted)) is None:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return None
        return found


def _is_blocked(what: Any) -> bool:
    return isinstance(what, RecordTransition) and what.transition.after is State.BLOCKED


def _is_due(what: Any, number: int) -> bool:
    held = isinstance(what, RecordDelivery) and (what.transition, what.outcome) == (number, "held")
    return held or (isinstance(what, Banner) and bool(what.panes))


def _is_answer(what: Any) -> bool:
    return isinstance(what, BannerShown | BannerFailed)


def _is_closed(what: Any) -> bool:
    return isinstance(what, BannerClosed)


def question_after() -> float:
    """Seconds from the prompt's key to the moment at which the recording's question can be read."""
    lines = ACT.cast.read_text(encoding="utf-8").splitlines()[1:]
    events = [json.loads(line) for line in lines]
    keys = [number for number, event in enumerate(events) if event[1] == "m"]
    return float(events[keys[1] - 1][0] - events[keys[0]][0])


def _now() -> float:
    return asyncio.get_running_loop().time()


def _after(began: float, word: str = "after") -> str:
    return f", {word} {_now() - began:.1f} s"
