"""The demo: the story played on a stage, watched by the daemon's own parts, told as it happens.

What is told is what happened, not what the story expects: each line comes from an effect of the
engine, or from what the desktop answered to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trayagent.daemon.doctor_desktop import checks
from trayagent.daemon.parts import Parts
from trayagent.demo.parts import Settings, parts_on, recognised
from trayagent.demo.stage import Stage
from trayagent.demo.story import STORY, Act
from trayagent.demo.telling import Ending, Row, Teller, wording
from trayagent.model.effects import Banner, Effect, RecordDelivery, RecordTransition, Sound
from trayagent.model.events import BannerFailed, BannerShown, Event
from trayagent.model.states import State
from trayagent.model.view import PaneView

LONGEST = 40.0  # seconds of a story, on a machine that is very busy
BEAT = 0.25  # seconds between two looks at the list
# The demo's own times: three alerts in ten seconds are not to be one.
TIMES: Settings = {"alerts": {"merge": "1 s"}}
# Why a transition is not told at all, which nobody who watches a demo needs to hear.
UNTOLD = frozenset({"state-off", "short-turn", "own-interrupt", "first-sight", "settle", "merge"})
HELD = {
    "desktop-dnd": "your desktop's do not disturb is on",
    "locked": "the screen is locked",
    "quiet-hours": "these are your quiet hours",
}


class Demo:
    """One showing. settings: the person's own, as a config file's tree."""

    def __init__(self, stage: Stage, settings: Settings, teller: Teller) -> None:
        self._stage, self._teller = stage, teller
        self._settings = {**settings, **TIMES}
        self._began = 0.0
        self._banners: dict[int, tuple[str, tuple[str, ...]]] = {}  # alert -> its title, whom it is about
        self._projects: dict[int, str] = {}  # transition -> whom it is about
        self._stopped = asyncio.Event()
        self.ending = Ending()
        self._parts: Parts

    def stop(self, why: str = "") -> None:
        """End the showing; also what the menu's Quit does."""
        self._stopped.set()

    async def play(self, linger: Callable[[Ending], Awaitable[None]]) -> Ending:
        """Play the story. linger: awaited once it is over, while icon and banners are still there."""
        async with parts_on(self._stage, self._settings, self.stop, self._attach) as parts:
            self._teller.surroundings(await checks(parts, alone=False))
            await recognised(parts, STORY)
            self._began = asyncio.get_running_loop().time()
            hands = [asyncio.create_task(self._send(act)) for act in STORY]
            await self._show(parts)
            await asyncio.gather(*hands)
            if not self._stopped.is_set():
                self.ending.played = len(self.ending.told) == len(STORY)
                await self._unless_stopped(linger(self.ending))
        return self.ending

    def _attach(self, parts: Parts) -> None:
        self._parts = parts
        parts.ends.watchers.append(self._effect)
        parts.listeners.append(self._event)
        parts.actions.opens_terminals = True  # a click shall show the agent, whose tmux nobody looks at

    async def _send(self, act: Act) -> None:
        await self._unless_stopped(asyncio.sleep(act.sent))
        if not self._stopped.is_set():
            await asyncio.to_thread(self._stage.press, act.agent)

    async def _show(self, parts: Parts) -> None:
        end = self._began + LONGEST
        while asyncio.get_running_loop().time() < end:
            self._teller.rows([row(view, parts.clock.now()) for view in parts.views()])
            if self._stopped.is_set() or len(self.ending.told) == len(STORY):
                return
            await self._unless_stopped(asyncio.sleep(BEAT))

    async def _unless_stopped(self, work: Awaitable[None]) -> None:
        """Wait for something, or for the end. What the work raises is raised."""
        tasks = {asyncio.ensure_future(work), asyncio.ensure_future(self._stopped.wait())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for problem in ended:
            if isinstance(problem, Exception):
                raise problem

    # -- what happens --------------------------------------------------------------------------

    def _say(self, state: State | None, text: str) -> None:
        if self._began:
            self._teller.say(asyncio.get_running_loop().time() - self._began, state, text)

    def _effect(self, effect: Effect) -> None:
        match effect:
            case RecordTransition(id=number, transition=passed):
                labels = passed.labels
                self._projects[number] = labels.project
                text = wording(passed.after, labels.agent_name, labels.project, passed.decision.message)
                if text:
                    self._say(passed.after, text)
            case Banner(alert=alert, panes=panes, title=title) if panes:
                views = [self._parts.engine.core.view(pane) for pane in panes]
                self._banners[alert] = title, tuple(view.labels.project for view in views if view)
            case RecordDelivery(transition=number, outcome="held", reason=why) if why not in UNTOLD:
                self._untold(self._projects.get(number, ""), HELD.get(why, why))
            case Sound():
                self._parts.ends.spawn(self._listen())

    def _event(self, event: Event) -> None:
        match event:
            case BannerShown(alert=alert) if alert in self._banners:
                title, projects = self._banners[alert]
                self._say(None, f"a banner comes up: {title}")
                self.ending.told |= dict.fromkeys(projects, True)
            case BannerFailed(alert=alert, why=why) if alert in self._banners:
                _, projects = self._banners[alert]
                if not self.ending.told.keys() >= set(projects):
                    self._say(None, "here a banner would come up")
                self.ending.why = why
                self.ending.told |= dict.fromkeys(projects, False)

    def _untold(self, project: str, why: str) -> None:
        self._say(None, f"no banner: {why}")
        self.ending.why = why
        self.ending.told[project] = False

    async def _listen(self) -> None:
        if self._parts.settings.sounds.mode not in ("audio", "both"):
            return
        await self._parts.sound.wait()
        problems = self._parts.sound.problems()
        self.ending.silent = problems[0] if problems else ""
        self.ending.heard |= not problems


def row(view: PaneView, now: float) -> Row:
    """A line of the list."""
    return Row(view.state, max(0.0, now - view.since), view.name, view.labels.project, view.message)
