"""Output: what the program of a pane says about itself in the bytes that it writes.

Records of OSC 7501 become claims of that source, a claim for each id. They belong to the
program that is in front: the agent, else the leader of the foreground job. It may speak before
its job has been read; then what it said is given to it as soon as it is known, unless it was
said before that process began. A reset (RIS) ends all records. A shell's mark (OSC 133 A and D) does
unless an agent that is known by its process has the terminal: some agents mark their own screens.
"""

from __future__ import annotations

from dataclasses import replace

from trayagent.engine import jobs, looking
from trayagent.engine.core import Core
from trayagent.engine.panes import Pane
from trayagent.model.events import Output
from trayagent.model.evidence import Claim
from trayagent.model.keys import ProcessKey
from trayagent.model.process import Job
from trayagent.signals import MOST, RIS, Report, mark, read

SOURCE = "7501"


def output(core: Core, event: Output) -> None:
    """A pane's program wrote this."""
    pane = core.panes.get(event.pane)
    if pane is None:
        return
    if event.lost:
        pane.scanner.reset()
    at = min(event.at, core.now)
    for body in pane.scanner.feed(event.data):
        if body == RIS or (mark(body) in ("A", "D") and not _held(pane)):
            _clear(core, pane, "", at)
        elif (report := read(body)) is not None:
            _heard(core, pane, report, at)


def job(core: Core, event: Job) -> None:
    """A job was read: what was said before may be its word."""
    pane = core.panes.get(event.pane)
    said = [] if pane is None else _records(pane)
    before = None if pane is None else _speaker(pane)
    jobs.job(core, event)
    if pane is None:
        return
    owner = _speaker(pane)
    if owner is None or owner == before:
        return
    if before is not None:
        pane.scanner.reset()
    for claim in said:
        if claim.owner != owner and _may_be_of(core, claim, owner):
            looking.claim(core, replace(claim, owner=owner))
        elif claim.owner is None:
            looking.claim(core, replace(claim, state=None, agent=""))


def _may_be_of(core: Core, claim: Claim, owner: ProcessKey) -> bool:
    """It was said since the process began, and what said it is not a younger one that has ended."""
    elder = claim.owner is None or claim.owner.started <= owner.started
    return elder and claim.at >= owner.started / core.ticks


def _held(pane: Pane) -> bool:
    return pane.here and pane.identity is not None and pane.identity.certainty != "report"


def _speaker(pane: Pane) -> ProcessKey | None:
    if pane.here:
        return pane.process
    return pane.job.processes[0].key if pane.job is not None and pane.job.processes else None


def _records(pane: Pane) -> list[Claim]:
    return [claim for claim in pane.claims.values() if claim.source == SOURCE]


def _heard(core: Core, pane: Pane, report: Report, at: float) -> None:
    if report.state is None:
        _clear(core, pane, report.id, at)
        return
    records = _records(pane)
    if len(records) >= MOST and all(claim.id != report.id for claim in records):
        oldest = min(records, key=lambda claim: claim.at)
        looking.claim(core, Claim(pane.key, SOURCE, None, at, id=oldest.id))
    claim = Claim(
        pane.key,
        SOURCE,
        report.state,
        at,
        agent=report.app or _inherited(pane, report.id),
        kind=report.kind,
        message=report.message or report.title,
        owner=_speaker(pane),
        id=report.id,
        progress=report.progress,
    )
    looking.claim(core, claim)


def _clear(core: Core, pane: Pane, path: str, at: float) -> None:
    """End the record and those below it."""
    for claim in _records(pane):
        if not path or claim.id == path or claim.id.startswith(f"{path}/"):
            looking.claim(core, Claim(pane.key, SOURCE, None, at, id=claim.id))


def _inherited(pane: Pane, path: str) -> str:
    """The name of the nearest record above, else of the program in front."""
    while path:
        path = path.rpartition("/")[0]
        above = pane.claims.get((SOURCE, path))
        if above is not None and above.agent:
            return above.agent
    return pane.job.processes[0].comm if pane.job is not None and pane.job.processes else ""
