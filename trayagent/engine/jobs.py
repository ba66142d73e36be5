"""Who has the terminal: the agent's coming, its leaving, and whether it does anything at all.

An agent is lost at once when the pane's own shell is back in front, else after
`LOST_AFTER` of another program. A new process starts clean. What has left stays listed
for a moment, so that a crash is not a silent disappearance, and an unseen end until seen.
"""

from __future__ import annotations

from dataclasses import replace

from trayagent.engine.core import ENDING_WAIT, Core
from trayagent.engine.panes import Pane, Rest
from trayagent.identity import identify
from trayagent.judge import Ending, Front, Memory
from trayagent.judge.decide import BUSY
from trayagent.manifest.evaluate import evaluate
from trayagent.model.effects import Examine, Measure
from trayagent.model.events import Exited, Physics, Relayed
from trayagent.model.evidence import Decision, Identity
from trayagent.model.process import Job
from trayagent.model.states import State

LOST_AFTER = 12.0
LEFT_SHOWN = 3.0
# Two readings this far apart tell whether a job is using the CPU; below this share of a
# core it is at rest (an idle agent's timers and cursor use less).
PROBE = 2.0
AT_REST = 0.02


def job(core: Core, event: Job) -> None:
    """The foreground job of a pane was read."""
    pane = core.panes.get(event.pane)
    if pane is None:
        return
    core.planner.examined(event.pane, core.now)
    if event is pane.job or event == pane.job:
        return
    pane.job = event
    hint = next((claim.agent for claim in pane.claims.values() if claim.source == "hint"), "")
    found = identify(event, core.index, pane.identity, hint) or reported(core, pane, event)
    if found is not None:
        _in_front(core, pane, found)
    elif pane.identity is not None and pane.left_at is None:
        _not_in_front(core, pane, event)
    pane.bare_before = pane.identity is None or pane.left_at is not None


def reported(core: Core, pane: Pane, event: Job) -> Identity | None:
    """A program that no table knows (rsync, a script, an agent in a container) but that reports
    about itself, for as long as it is in front. The pane's own shell counts between its commands too."""
    if not event.alive:
        return None
    present = {process.key for process in event.processes} | {event.shell}
    for claim in pane.own_claims():
        if claim.source in ("7501", "report") and claim.owner in present and claim.owner is not None:
            agent = core.index.agent_id(claim.agent) or claim.agent
            return Identity(agent, claim.owner, certainty="report", why=f"it reports itself as {claim.agent}")
    return None


def _in_front(core: Core, pane: Pane, found: Identity) -> None:
    known = pane.identity
    pane.front, pane.other_since = Front.AGENT, None
    if known is not None and known.process == found.process and known.certainty == "report":
        _known_better(core, pane, found)
    if known is not None and (known.process, known.agent) == (found.process, found.agent):
        came_back = pane.left_at is not None
        pane.identity, pane.left_at = found, None
        if came_back:
            core.planner.want(pane.key, core.now, "back in front")
            core.judge(pane)
        return
    if known is not None:
        core.forget_agent(pane, pane.state in BUSY)
    adopt(core, pane, found)


def _known_better(core: Core, pane: Pane, found: Identity) -> None:
    """What reported itself is recognised by its process now: the same one, under its proper name."""
    known = pane.identity
    assert known is not None
    if known.agent != found.agent:
        pane.identity, pane.manifest = found, core.manifests.get(found.agent)
        core.relabel(pane)


def adopt(core: Core, pane: Pane, found: Identity) -> None:
    """A new agent in the pane: it starts clean, unless the ledger knows this very process."""
    pane.identity = found
    pane.front = Front.AGENT
    pane.manifest = core.manifests.get(found.agent)
    pane.start_clean(core.now)
    born = found.process.started / core.ticks
    old = born < core.started
    pane.title_before = pane.info.title if pane.bare_before and not old else None
    known = core.remembered.pop(pane.key, None)
    if known is not None and known.process != found.process:
        known = None
    if known is not None and known.alerted:
        decision = Decision(known.state, "as before the restart", "ledger", fingerprint=known.fingerprint)
        since = min(known.since_wall - core.wall_offset, core.now)
        pane.memory = Memory(decision, since, found.process, known.generation, fresh=False)
    else:
        pane.first_sight = old and known is None
    core.relabel(pane)
    core.watch_dirty = True
    core.plan(pane)
    core.planner.want(pane.key, core.now, "new agent")
    if found.headless:
        core.judge(pane)


def _not_in_front(core: Core, pane: Pane, event: Job) -> None:
    if not event.alive:
        leave(core, pane, Front.GONE)
    elif event.shell_in_front or _has_released(pane):
        leave(core, pane, Front.SHELL)
    elif pane.other_since is None:
        pane.front, pane.other_since = Front.OTHER, core.now


def _has_released(pane: Pane) -> bool:
    """It was there by its own word only, and has taken that back."""
    by_report = pane.identity is not None and pane.identity.certainty == "report"
    return by_report and not any(claim.owner == pane.process for claim in pane.own_claims())


def leave(core: Core, pane: Pane, front: Front) -> None:
    """The agent is not in front any more; how it ended may be known in a moment."""
    pane.front, pane.left_at, pane.other_since = front, core.now, None
    pane.left_busy = pane.state in BUSY
    core.watch_dirty = True
    core.plan(pane)
    if pane.ending is not None:
        core.judge(pane)
    else:
        core.judge_at[pane.key] = core.now + ENDING_WAIT


def exited(core: Core, event: Exited) -> None:
    """An agent's process ended."""
    pane = core.agent_process(event.process)
    if pane is None:
        return
    if pane.ending is None or (event.status, event.signal) != (None, None):
        pane.ending = Ending(event.status, event.signal)  # a relay knows what the kernel may not tell
    if pane.left_at is not None:
        core.judge(pane)
    elif not pane.gone:
        core.out.append(Examine((pane.terminal,), fresh=True))


def relayed(core: Core, event: Relayed) -> None:
    """A relay has come between a pane's terminal and its agent, or has gone: who is in front there?"""
    pane = core.panes.get(event.pane)
    relay = event if event.pid else None
    if pane is not None and pane.relay != relay:
        pane.relay = relay
        if not pane.gone:
            core.out.append(Examine((pane.terminal,), fresh=True))


def lifecycle(core: Core) -> float | None:
    """What time alone does to panes that agents have left; returns when that is next (engine seconds)."""
    nexts: list[float] = []
    for pane in list(core.panes.values()):
        if pane.other_since is not None:
            if core.now - pane.other_since >= LOST_AFTER:
                leave(core, pane, Front.SHELL)
            else:
                nexts.append(pane.other_since + LOST_AFTER)
        if pane.left_at is not None and pane.identity is not None and pane.key not in core.judge_at:
            if pane.state in (State.DONE, State.ERROR):
                continue  # stays until seen
            if core.now - pane.left_at >= LEFT_SHOWN:
                core.forget_agent(pane, pane.left_busy)
            else:
                nexts.append(pane.left_at + LEFT_SHOWN)
    return min(nexts, default=None)


# -- silence: is the job really doing nothing? --------------------------------------------


def probe(core: Core, pane: Pane) -> bool:
    """Before a silent pane is called unknown: find out whether its job is at rest. True while finding out."""
    stall = core.settings.detect.stall
    silent_since = max(pane.wrote_at, pane.typed_at)
    working = pane.state is State.WORKING and pane.here and pane.process is not None
    if not working or stall <= 0 or not core.planner.pulse or core.now - silent_since < stall:
        return False
    if pane.rest.quiet is not None and core.now - pane.rest.at < PROBE:
        return False
    assert pane.process is not None
    if not pane.rest.probing:
        pane.rest = Rest(idle_rate=pane.rest.idle_rate, probing=True)
    core.out.append(Measure(((pane.key, pane.process),)))
    core.judge_at[pane.key] = core.now + PROBE
    return True


def physics(core: Core, event: Physics) -> None:
    """What a job has used so far."""
    pane = core.panes.get(event.pane)
    if pane is None or pane.process is None:
        return
    rest = pane.rest
    spent = None if rest.cpu is None else event.cpu - rest.cpu
    over = core.now - rest.at
    rest.cpu, rest.at = event.cpu, core.now
    if spent is None or over < PROBE / 2:
        return
    rate = spent / over
    if pane.state is not State.WORKING:
        rest.idle_rate = rate if rest.idle_rate is None else min(rest.idle_rate, rate)
        return
    if not rest.probing:
        return
    began = pane.memory.turn_since if pane.memory.turn_since is not None else pane.memory.since
    child = event.newest / core.ticks > began if event.newest else False
    rest.quiet = rate <= max(AT_REST, 2 * (rest.idle_rate or 0.0)) and not child
    rest.probing = False
    if rest.quiet:
        last_look(core, pane)
    core.judge(pane)


def last_look(core: Core, pane: Pane) -> None:
    """A hung agent's title still spins: read the last screen once more without it."""
    if pane.screen is not None and pane.manifest is not None and pane.screen.title:
        verdict = evaluate(pane.manifest, replace(pane.screen, title="", progress=""))
        if verdict.state is not State.WORKING:
            pane.verdict = verdict
