"""Pulses and frames: when a pane wrote, and what its screen says."""

from __future__ import annotations

from dataclasses import replace

from trayagent.engine.core import TYPED_AFTER, Core
from trayagent.engine.jobs import job, probe
from trayagent.engine.listing import update
from trayagent.engine.panes import Pane
from trayagent.engine.sight import own_title, spinners_only
from trayagent.judge.lifetimes import ends_at
from trayagent.manifest.evaluate import evaluate
from trayagent.model.events import Frame, Pulse
from trayagent.model.evidence import Claim
from trayagent.model.panes import Screen
from trayagent.model.states import State

# A client's terminal is written to whenever anything on it moves; who looks at what may
# have changed, which matters while something is unseen.
CLIENTS_EVERY = 1.0
# Claims that may say who is in front, where no process does.
NAMING = frozenset({"hint", "report", "7501"})


def pulse(core: Core, event: Pulse) -> None:
    """Terminals were written to, or read from."""
    now = core.now
    if event.overflow:
        core.planner.overflow(now)
    for key in core.planner.wrote(event.wrote, now):
        pane = core.panes[key]
        pane.wrote_at = core.planner.rhythms[key].wrote
        if pane.rest.quiet is not None or pane.rest.probing:
            if pane.rest.quiet and pane.here:
                core.planner.want(key, now + 0.2, "writes again")
            pane.rest.quiet, pane.rest.probing = None, False
    for key in core.planner.typed(event.typed, now):
        pane = core.panes[key]
        pane.typed_at = now
        core.attention.touched(now)
        unseen = pane.state in (State.DONE, State.ERROR)
        if unseen and now - pane.memory.since >= TYPED_AFTER:
            core.see(pane, "typed")
    _clients_wrote(core, event)


def _clients_wrote(core: Core, event: Pulse) -> None:
    for server, clients in core.attention.clients.items():
        if not any(client.tty in event.wrote and core.attention.in_front(client) for client in clients):
            continue
        unseen = any(
            pane.state in (State.DONE, State.ERROR) or core.alerts.has_open(key)
            for key, pane in core.panes.items()
            if key.server == server
        )
        if unseen:
            core.planner.want_clients(server, core.now + CLIENTS_EVERY)


def frame(core: Core, event: Frame) -> None:
    """One look at one pane came back."""
    pane = core.panes.get(event.pane)
    if pane is None:
        return
    update(core, pane, event.info)
    if event.screen is None:
        return
    if event.pane in core.catching:
        core.catching.discard(event.pane)
        core.alerts_dirty |= not core.catching
    screen = _as_read(core, pane, event.screen)
    rhythm = core.planner.rhythms.get(event.pane)
    same = rhythm is not None and rhythm.still and spinners_only(pane.screen, screen)
    core.planner.looked(event.pane, event.at, same)
    if pane.looked_at < event.at:
        pane.looked_at = event.at
        see_screen(core, pane, screen)


def see_screen(core: Core, pane: Pane, screen: Screen, again: bool = False) -> None:
    """Let the pane's manifest read the screen (again: even if it is the one it read last)."""
    changed = screen != pane.screen
    pane.screen = screen
    if not pane.here:
        return
    if pane.manifest is not None and (changed or again or pane.verdict is None):
        pane.verdict = evaluate(pane.manifest, screen)
    core.judge(pane)


def _as_read(core: Core, pane: Pane, screen: Screen) -> Screen:
    if not screen.title:
        return screen
    processes = pane.job.processes if pane.job else ()
    names = set(core.host_names)
    for process in processes[:4]:
        names.add(process.comm.lower())
        if process.argv:
            names.add(process.argv[0].rpartition("/")[2].lower())
    if own_title(screen.title, pane.title_before, frozenset(names)):
        if pane.title_before is not None:
            pane.title_before = ""  # it speaks for itself from now on
        return screen
    return replace(screen, title="")


def claim(core: Core, event: Claim) -> None:
    """Somebody says something about a pane."""
    pane = core.panes.get(event.pane)
    if pane is not None:
        claims(core, pane, [event])


def claims(core: Core, pane: Pane, said: list[Claim]) -> None:
    """Several claims about one pane, weighed together when all are known."""
    news = [event for event in said if pane.claims.get((event.source, event.id)) != event]
    if not news:
        return
    for event in news:
        if event.state is None and not event.agent and not event.name:
            pane.claims.pop((event.source, event.id), None)
        else:
            pane.claims[event.source, event.id] = event
    if pane.job is not None and any(event.source in NAMING for event in news):
        read, pane.job = pane.job, None
        job(core, read)
    if pane.here or pane.own_claims():
        core.judge(pane)
    core.tray.dirty = True


def _expire(core: Core, pane: Pane) -> None:
    """A pane that is listed for what its program says leaves the list when that has ended by time.
    An agent's ended claims stay, so that `explain` can say why they do not count."""
    if pane.identity is not None and pane.identity.certainty != "report":
        return
    ends = {key: ends_at(claim) for key, claim in pane.claims.items()}
    ended = [key for key, end in ends.items() if end is not None and end <= core.now]
    for key in ended:
        del pane.claims[key]
    if ended and pane.job is not None:
        read, pane.job = pane.job, None
        job(core, read)


def judge_due(core: Core) -> None:
    """Panes whose decision time alone may change: look if they wrote since, else judge."""
    for key, at in list(core.judge_at.items()):
        if at > core.now:
            continue
        core.judge_at.pop(key, None)
        pane = core.panes.get(key)
        if pane is None:
            continue
        _expire(core, pane)
        if pane.here and core.planner.pending(key) and pane.memory.held is not None:
            core.planner.want(key, core.now, "judge")
        elif not probe(core, pane):
            core.judge(pane)
