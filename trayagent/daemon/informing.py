"""What programs have said about a pane, and what of it still counts: the answer of `info`.

Nothing is here that was read off a screen; messages are masked like everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trayagent.ipc.panes import find_pane, pane_name
from trayagent.ipc.schema import Json
from trayagent.manifest.mask import mask
from trayagent.model.evidence import Claim
from trayagent.reports.broker import Record

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


def info(parts: Parts, args: Json) -> Json:
    """The pane's record and claims. Raises VerbError where the arguments mean no pane."""
    spot = find_pane(parts.reporting.spots(), args)
    pane = parts.engine.core.panes[spot.key]
    broker, now = parts.reporting.broker, parts.clock.now()
    record = broker.settle(spot.key)
    live = parts.engine.core.live_claims(pane)
    return {
        "pane": pane_name(spot),
        "record": None if record is None else _record(record, now),
        "retired": len(broker.retired.get(spot.key, ())),
        "claims": [_claim(claim, claim in live, now) for claim in pane.claims.values()],
    }


def _record(record: Record, now: float) -> dict[str, Any]:
    return {
        "agent": record.agent,
        "state": record.state.value,
        "message": mask(record.message),
        "owner": record.owner.pid,
        "group": record.group,
        "instance": record.instance,
        "sequence": record.sequence,
        "age": round(now - record.at, 1),
        "session_id": record.session_id,
        "resume": list(record.resume),
    }


def _claim(claim: Claim, live: bool, now: float) -> dict[str, Any]:
    return {
        "source": claim.source,
        "state": claim.state.value if claim.state else None,
        "live": live,
        "age": round(now - claim.at, 1),
        "expires": None if claim.expires is None else round(claim.expires - now, 1),
        "owner": claim.owner.pid if claim.owner else None,
        "id": claim.id,
        "agent": claim.agent,
        "name": claim.name,
        "event": claim.event,
        "progress": claim.progress,
        "message": mask(claim.message),
        "session_id": claim.session_id,
        "resume": list(claim.resume),
    }
