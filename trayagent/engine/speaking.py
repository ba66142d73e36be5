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
    bodies = pane.scanner.feed(event.data)
    if bodies:
        _take(core, pane, bodies, min(event.at, core.now))


def _take(core: Core, pane: Pane, bodies: list[bytes], at: float) -> None:
    """What one Output says in all, weighed once however many reports it has."""
    cleared: set[str] = set()
    reports: dict[str, Report] = {}
    for body in bodies:
        report = read(body)
        if body == RIS or (mark(body) in ("A", "D") and not _held(pane)):
            report = Report(None)
        if report is None:
            continue
        if report.state is None:
            cleared.add(report.id)
            reports = {path: kept for path, kept in reports.items() if not _below(path, report.id)}
            continue
        reports.pop(report.id, None)
        reports[report.id] = report
        if len(reports) > MOST:
            del reports[next(iter(reports))]
    if not cleared and not reports:
        return
    records = {claim.id: claim for claim in sorted(_records(pane), key=lambda claim: claim.at)}
    before = set(records)
    records = {path: claim for path, claim in records.items() if not _ended(path, cleared)}
    for path, report in reports.items():
        records.pop(path, None)
        records[path] = _claim(pane, report, records, at)
    for path in list(records)[: max(0, len(records) - MOST)]:
        del records[path]
    gone = [Claim(pane.key, SOURCE, None, at, id=path) for path in before - set(records)]
    looking.claims(core, pane, gone + list(records.values()))


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


def _below(path: str, top: str) -> bool:
    return not top or path == top or path.startswith(f"{top}/")


def _ended(path: str, cleared: set[str]) -> bool:
    parts = path.split("/")
    return "" in cleared or any("/".join(parts[:end]) in cleared for end in range(1, len(parts) + 1))


def _claim(pane: Pane, report: Report, records: dict[str, Claim], at: float) -> Claim:
    return Claim(
        pane.key,
        SOURCE,
        report.state,
        at,
        agent=report.app or _inherited(pane, report.id, records),
        kind=report.kind,
        message=report.message or report.title,
        owner=_speaker(pane),
        id=report.id,
        progress=report.progress,
    )


def _inherited(pane: Pane, path: str, records: dict[str, Claim]) -> str:
    """The name of the nearest record above, else of the program in front."""
    while path:
        path = path.rpartition("/")[0]
        if path in records and records[path].agent:
            return records[path].agent
    return pane.job.processes[0].comm if pane.job is not None and pane.job.processes else ""
