"""Hooks that have fired: from a note in the spool to a claim about the pane of the agent that fired it.

The owner is the agent's process as identity knows it, which must be above the hook: an agent that
another agent started for itself (`claude -p` from a tool) inherits the pane's variables, but is not
the one in the pane. Where nothing above the hook lives any more, the pane's variables are believed,
if the agent in it is of the right kind.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from trayagent.host.choose import standings
from trayagent.host.standing import Standing, ancestry
from trayagent.ipc.panes import find_pane
from trayagent.ipc.schema import Json, VerbError
from trayagent.manifest import hooks as rules
from trayagent.manifest.format import Hooks
from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey
from trayagent.reports.sessions import Sessions, Word
from trayagent.reports.spool import Note
from trayagent.reports.words import clean

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts
    from trayagent.engine.panes import Pane

log = logging.getLogger("trayagent")

# The first hook may fire before its agent has been recognised: it is tried again so many seconds later.
TRY_AGAIN = (0.3, 1.5)
MESSAGE = 2000
SESSION = 200


class Hooking:
    """Notes in, claims out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._standing = standings()
        self._sessions: dict[PaneKey, Sessions] = {}
        self._trying = 0

    def take(self, note: Note) -> None:
        """Make a claim of a note, now or in a moment."""
        manifest = self._parts.library.get(note.agent)
        hooks = manifest.hooks if manifest is not None else None
        if manifest is None or hooks is None:
            known = clean(note.agent, 40)
            self._parts.report(f"hook {known}", f"a hook of {known} fired, and no manifest has hooks for it")
        elif not self._claim(note, manifest.id, hooks) and self._trying < 64:
            self._parts.ends.spawn(self._again(note, manifest.id, hooks))

    async def _again(self, note: Note, agent: str, hooks: Hooks) -> None:
        self._trying += 1
        try:
            for seconds in TRY_AGAIN:
                await asyncio.sleep(seconds)
                if self._claim(note, agent, hooks, late=True):
                    return
            log.debug("a hook of %s fired in no pane that is watched", agent)
        finally:
            self._trying -= 1

    def _claim(self, note: Note, agent: str, hooks: Hooks, late: bool = False) -> bool:
        """Feed the claim; False where its pane or agent is not known (yet)."""
        pane = self._pane_of(note, agent)
        if pane is None or pane.process is None:
            return False
        sessions = self._of(pane)
        session = clean(rules.session_of(note.fields), SESSION)
        at = note.at - self._parts.clock.wall_offset()
        said = rules.said(hooks, note.event, note.fields, sessions.before(session, pane.state))
        if said is None or (late and any(word.at > at for word in sessions.words.values())):
            return True
        word: Word | None
        if said.state is None:
            word = sessions.end(session, at)
        else:
            message = clean(said.message, MESSAGE)
            new = Word(said.state, at, note.event, session, said.kind, said.reason, message)
            word = sessions.hear(new)
        self._parts.feed(_claim(pane, agent, word, hooks.complete, at))
        return True

    def _of(self, pane: Pane) -> Sessions:
        """The sessions of the pane's agent; another process starts without any."""
        assert pane.process is not None
        known = self._sessions.get(pane.key)
        if known is None or known.owner != pane.process:
            present = self._parts.engine.core.panes
            self._sessions = {key: one for key, one in self._sessions.items() if key in present}
            known = self._sessions[pane.key] = Sessions(pane.process)
        return known

    # -- whose it is -----------------------------------------------------------------------

    def _pane_of(self, note: Note, agent: str) -> Pane | None:
        """The pane in which this agent fired the hook, None if there is none."""
        chain: list[Standing] = []
        for pid in note.pids:
            chain = chain or ancestry(pid, self._standing)
        panes = [pane for pane in self._parts.engine.core.panes.values() if self._runs(pane, agent)]
        if chain:
            above = {one.process: depth for depth, one in enumerate(chain)}
            mine = [pane for pane in panes if pane.process in above and not _nested(pane, chain)]
            return min(mine, key=lambda pane: above[pane.process], default=None)  # type: ignore[index]
        keys = {pane.key for pane in panes}
        spots = [spot for spot in self._parts.reporting.spots() if spot.key in keys]
        try:
            return self._parts.engine.core.panes[find_pane(spots, _place(note)).key]
        except VerbError:
            return next((pane for pane in panes if note.tty and pane.info.tty == note.tty), None)

    def _runs(self, pane: Pane, agent: str) -> bool:
        """Whether this agent is in the pane now."""
        if pane.identity is None or pane.left_at is not None or pane.gone:
            return False
        known = self._parts.library.get(pane.identity.agent)
        return (known.id if known is not None else pane.identity.agent) == agent


def _nested(pane: Pane, chain: list[Standing]) -> bool:
    """Whether the hook was fired by the same program, started below the pane's own agent by one of its
    tools: nearer to the hook, and in another process group (a launcher's real self is in its own)."""
    own = next(one for one in chain if one.process == pane.process)
    below = chain[: chain.index(own)]
    return own.exe is not None and any(one.exe == own.exe and one.group != own.group for one in below)


def _place(note: Note) -> Json:
    if note.pane:
        return {"tmux_pane": note.pane, "socket": note.socket, "server_pid": note.server_pid}
    return {"tty": note.tty}


def _claim(pane: Pane, agent: str, word: Word | None, complete: bool, at: float) -> Claim:
    """What speaks for the pane now, as a claim; with nothing left, the end of the last one."""
    if word is None:
        return Claim(pane.key, "hook", None, at)
    return Claim(
        pane.key,
        "hook",
        word.state,
        at,
        agent=agent,
        kind=word.kind,
        reason=word.reason,
        message=word.message,
        owner=pane.process,
        session_id=word.session,
        complete=complete,
        event=word.event,
    )
