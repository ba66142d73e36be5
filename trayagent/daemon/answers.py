"""What the socket's verbs answer: reading the engine and the ledger, and the person's verbs by command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from trayagent import __version__
from trayagent.daemon.account import manifest_rows, problems
from trayagent.daemon.doctor import checks
from trayagent.daemon.informing import info
from trayagent.daemon.recorded import recorded
from trayagent.daemon.waiting import Waiting
from trayagent.engine.submenus import Clock
from trayagent.ipc.broadcast import Broadcast
from trayagent.ipc.panes import find_pane, pane_json, pane_name
from trayagent.ipc.peer import Peer
from trayagent.ipc.schema import VERSION, Json, VerbError
from trayagent.model import effects as e
from trayagent.model.events import Forget, Read
from trayagent.model.states import State
from trayagent.model.view import PaneView

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

Answer = Json | AsyncIterator[Json]


class Answers:
    """The handler of ipc.server: `await answers(verb, args, peer)`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._events = Broadcast()
        self._lists = Broadcast(latest=True)
        self._waiting = Waiting(parts)
        parts.ends.watchers.append(self._effect)
        self._verbs: dict[str, Callable[[Json], Any]] = {
            "list": self._list,
            "watch": self._watch,
            "get": self._get,
            "explain": self._explain,
            "capture": self._capture,
            "events": self._follow,
            "history": self._history,
            "info": lambda args: info(parts, args),
            "wait": self._waiting.follow,
            "status": self._status,
            "jump": self._jump,
            "next": self._next,
            "back": self._go_back,
            "mute": self._mute,
            "unmute": self._unmute,
            "read": self._read,
            "forget": self._forget,
            "pause": self._pause,
            "unpause": self._unpause,
            "stop": self._stop,
            "version": self._version,
            "manifests": self._manifests,
            "doctor": self._doctor,
            "reload": self._reload,
            "sounds": lambda args: parts.sounds.describe(),
            "sounds-mode": self._sounds_mode,
            "sounds-test": self._sounds_test,
            "test-alert": self._test_alert,
        }

    async def __call__(self, verb: str, args: Json, peer: Peer) -> Answer:
        """Answer one checked request. Raises VerbError for what cannot be done."""
        args = self._parts.relays.seen_outside(args)
        if verb in self._parts.reporting.verbs:
            return await self._parts.reporting.verbs[verb](args, peer)
        answer = self._verbs[verb](args)
        return await answer if asyncio.iscoroutine(answer) else answer  # type: ignore[no-any-return]

    # -- panes -----------------------------------------------------------------------------

    def views(self) -> tuple[PaneView, ...]:
        """All listed panes, the loudest first."""
        return self._parts.views()

    def pane(self, args: Json) -> PaneView:
        """The pane that the arguments mean."""
        return find_pane(self.views(), args)

    def _json(self, view: PaneView) -> Json:
        return pane_json(view, self._parts.clock.wall_offset())

    def _list(self, args: Json) -> Json:
        return {"panes": [self._json(view) for view in self.views()]}

    def _watch(self, args: Json) -> AsyncIterator[Json]:
        return self._lists.subscribe(self._list({}))

    def _get(self, args: Json) -> Json:
        return {"pane": self._json(self.pane(args))}

    def _explain(self, args: Json) -> Json:
        view = self.pane(args)
        told = self._parts.engine.explain(view.key, self._parts.clock.now())
        if told is None:
            raise VerbError("no-pane", f"{pane_name(view)} is gone")
        manifest = told["manifest"]
        if manifest is not None:
            manifest["source"] = self._parts.library.tiers.get(manifest["id"], "")
        return told

    def _capture(self, args: Json) -> Json:
        view = self.pane(args)
        pane = self._parts.engine.core.panes.get(view.key)
        told = recorded(pane) if pane is not None else None
        if told is None:
            raise VerbError("failed", f"{pane_name(view)} has not been looked at yet")
        return told

    # -- events ----------------------------------------------------------------------------

    def _follow(self, args: Json) -> AsyncIterator[Json]:
        return self._events.subscribe()

    def _effect(self, effect: e.Effect) -> None:
        if isinstance(effect, e.Tray):
            if len(self._lists):
                self._lists.publish(self._list({}))
            return
        if not len(self._events):
            return
        offset = self._parts.clock.wall_offset()
        if isinstance(effect, e.RecordTransition):
            t = effect.transition
            self._events.publish(
                {
                    "type": "transition",
                    "at": round(t.at + offset, 3),
                    "id": effect.id,
                    "pane": t.labels.target,
                    "agent": t.agent,
                    "project": t.labels.project,
                    "from": t.before.value,
                    "to": t.after.value,
                    "why": t.decision.why,
                    "source": t.decision.source,
                }
            )
        elif isinstance(effect, e.RecordDelivery):
            self._events.publish(
                {
                    "type": "delivery",
                    "at": round(effect.at + offset, 3),
                    "id": effect.transition,
                    "outcome": effect.outcome,
                    "reason": effect.reason,
                }
            )

    async def _history(self, args: Json) -> Json:
        known = dict(args)
        entries = await asyncio.to_thread(self._parts.ledger.history, **known)
        return {"entries": entries}

    # -- the person's verbs ----------------------------------------------------------------

    async def _jump(self, args: Json) -> Json:
        view = self.pane(args)
        outcome = await self._parts.actions.jump(view.key)
        return _said(outcome.ok, outcome.text, pane=pane_name(view))

    async def _next(self, args: Json) -> Json:
        outcome = await self._parts.actions.next()
        return _said(outcome.ok, outcome.text)

    async def _go_back(self, args: Json) -> Json:
        outcome = await self._parts.actions.back()
        return _said(outcome.ok, outcome.text)

    def _scope(self, args: Json) -> tuple[str, str, str]:
        scope = args.get("scope", "pane")
        if scope == "pane":
            view = self.pane(args)
            return scope, view.key.token, pane_name(view)
        value = args.get("value", "")
        if scope not in ("session", "project", "agent") or not value:
            raise VerbError("bad-args", "mute a pane, or a session, project or agent by its name")
        return scope, value, f"{scope} {value}"

    def _mute(self, args: Json) -> Json:
        scope, value, name = self._scope(args)
        end = self._parts.actions.mute(scope, value, _word(args.get("seconds", 3600.0)))
        return {"text": f"{name} is muted", "until": self._wall(end)}

    def _unmute(self, args: Json) -> Json:
        scope, value, name = self._scope(args)
        self._parts.actions.mute(scope, value, "off")
        return {"text": f"{name} is not muted"}

    def _read(self, args: Json) -> Json:
        if args.get("all"):
            self._parts.feed(Read())
            return {"text": "all items are read"}
        view = self.pane(args)
        self._parts.feed(Read(view.key))
        return {"text": f"{pane_name(view)} is read"}

    def _forget(self, args: Json) -> Json:
        view = self.pane(args)
        self._parts.feed(Forget(view.key))
        return {"text": f"{pane_name(view)} is forgotten until it changes"}

    def _pause(self, args: Json) -> Json:
        end = self._parts.actions.pause(_word(args.get("seconds")))
        return {"text": "alerts are paused", "until": self._wall(end)}

    def _unpause(self, args: Json) -> Json:
        self._parts.actions.pause("off")
        return {"text": "alerts are on"}

    def _wall(self, end: float | None) -> float | None:
        return None if end is None else round(end + self._parts.clock.wall_offset(), 3)

    # -- the daemon itself -----------------------------------------------------------------

    def _status(self, args: Json) -> Json:
        now, views = self._parts.clock.now(), self.views()
        counts = {state.value: sum(view.state is state for view in views) for state in State}
        waits = [now - view.since for view in views if view.needs_you]
        paused, until = self._parts.engine.core.alerts.paused(now)
        return {
            "version": __version__,
            "pid": os.getpid(),
            "counts": counts,
            "needs_you": counts["blocked"] + counts["error"],
            "longest_wait": round(max(waits), 1) if waits else None,
            "paused": {"on": paused, "until": self._wall(until)},
            "quiet": self._quiet(now),
            "sounds": self._parts.settings.sounds.mode,
            "tooltip": self._parts.tooltip,
            "config": str(self._parts.config.path),
            "problems": problems(self._parts),
        }

    def _quiet(self, now: float) -> Json:
        """Quiet hours (until: their end, next: their next start) and the desktop's do-not-disturb."""
        core = self._parts.engine.core
        end, start = Clock(now, core.wall_offset, core.zone).quiet(core.settings.quiet_hours)
        return {"on": end is not None, "until": self._wall(end), "next": self._wall(start), "dnd": core.dnd}

    def _stop(self, args: Json) -> Json:
        self._parts.stop("asked to by the stop command")
        return {"text": "stopping"}

    def _version(self, args: Json) -> Json:
        return {"version": __version__, "protocol": VERSION, "pid": os.getpid()}

    def _manifests(self, args: Json) -> Json:
        return {"manifests": manifest_rows(self._parts)}

    async def _doctor(self, args: Json) -> Json:
        return {"checks": [check.to_json() for check in await checks(self._parts)]}

    async def _reload(self, args: Json) -> Json:
        problems = await self._parts.reload()
        return {"text": "read anew: config and manifests", "problems": problems}

    def _sounds_mode(self, args: Json) -> Json:
        try:
            self._parts.actions.choose_sounds(args.get("mode", ""))
        except ValueError as error:
            raise VerbError("bad-args", str(error)) from None
        mode = self._parts.settings.sounds.mode
        return {"text": "sounds are off" if mode == "off" else f"sounds: {mode}", "mode": mode}

    async def _sounds_test(self, args: Json) -> Json:
        volume = args.get("volume")
        outcome = await self._parts.actions.test_sound(
            _state(args), None if volume is None else min(max(float(volume), 0.0), 1.0)
        )
        return _said(outcome.ok, outcome.text)

    async def _test_alert(self, args: Json) -> Json:
        delay = min(max(float(args.get("delay", 0.0)), 0.0), 3600.0)
        state = _state(args)
        self._parts.ends.spawn(self._alert_after(delay, state))
        return {"text": f"a test banner comes in {delay:g} s" if delay else "a test banner is on its way"}

    async def _alert_after(self, delay: float, state: State) -> None:
        await asyncio.sleep(delay)
        alert = self._parts.engine.core.alerts.new_alert()
        body = "This is how trayagent tells you that an agent needs you."
        self._parts.ends.perform(e.Banner(alert, (), "trayagent: a test", body, state, kind="test"))
        self._parts.ends.perform(e.Sound(state))


def _word(seconds: float | None) -> str:
    """A duration in the words of alerts.hours.until."""
    return "always" if seconds is None else f"{max(1, round(seconds))}s"


def _state(args: Json) -> State:
    try:
        return State(args.get("state", "blocked"))
    except ValueError:
        raise VerbError("bad-args", f"no such state: {args['state']!r}") from None


def _said(ok: bool, text: str, **more: str) -> Json:
    if not ok:
        raise VerbError("failed", text)
    return {"text": text, **more}
