"""Why a pane has its state: the production evaluator once more on its last frame, and recorded."""

from __future__ import annotations

from typing import Any

from trayagent.engine.core import Core
from trayagent.engine.panes import Pane
from trayagent.judge.rules import RULES
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.trace import Trace
from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey


def explain(core: Core, key: PaneKey) -> dict[str, Any] | None:
    """All that is known of the pane and what was made of it, ready for JSON; None: no such pane."""
    pane = core.panes.get(key)
    if pane is None:
        return None
    view = core.view(key)
    trace = Trace()
    if pane.manifest is not None and pane.screen is not None:
        evaluate(pane.manifest, pane.screen, trace)
    return {
        "pane": pane.labels.target,
        "token": key.token,
        "labels": {name: getattr(pane.labels, name) for name in pane.labels.__slots__},
        "decision": _decision(core, pane),
        "identity": _identity(pane),
        "manifest": _manifest(pane),
        "trace": trace.to_json() if pane.screen is not None and pane.manifest is not None else None,
        "evidence": _evidence(core, pane),
        "claims": [_claim(core, pane, claim) for claim in pane.claims.values()],
        "attention": core.attention.explain(pane.info, core.now),
        "looks": _looks(core, pane),
        "alerts": core.alerts.snapshot(core.now),
        "muted": view.muted if view is not None else False,
    }


def _decision(core: Core, pane: Pane) -> dict[str, Any]:
    decision, memory = pane.memory.decision, pane.memory
    return {
        "state": decision.state.value,
        "kind": decision.kind.value if decision.kind else None,
        "reason": decision.reason.value if decision.reason else None,
        "why": decision.why,
        "source": decision.source,
        "rule": decision.rule,
        "message": decision.message,
        "fingerprint": decision.fingerprint,
        "for": round(core.now - memory.since, 1),
        "turn": memory.turn,
        "held": memory.held.target.value if memory.held else None,
    }


def _evidence(core: Core, pane: Pane) -> list[dict[str, Any]]:
    """What each source of the arbitration would say; the first that speaks has decided."""
    evidence = core.evidence(pane)
    rows = []
    for rule in RULES:
        finding = rule(pane.memory.decision, evidence, core.now)
        rows.append(
            {
                "source": rule.__name__,
                "state": finding.state.value if finding else None,
                "why": finding.why if finding else "nothing to say",
            }
        )
    return rows


def _identity(pane: Pane) -> dict[str, Any] | None:
    job = [
        {"pid": process.pid, "name": process.comm, "argv": list(process.argv)[:8], "exe": process.exe}
        for process in (pane.job.processes if pane.job else ())[:24]
    ]
    front = pane.front.value
    if pane.identity is None:
        return {"agent": None, "front": front, "job": job, "why": "nobody in front is a known agent"}
    identity = pane.identity
    return {
        "agent": identity.agent,
        "certainty": identity.certainty,
        "why": identity.why,
        "chain": list(identity.chain),
        "pid": identity.process.pid,
        "headless": identity.headless,
        "front": front,
        "relay": pane.relay.tty if pane.relay is not None else "",
        "job": job,
    }


def _manifest(pane: Pane) -> dict[str, Any] | None:
    manifest = pane.manifest
    if manifest is None:
        return None
    return {
        "id": manifest.id,
        "version": manifest.version,
        "dialect": manifest.dialect,
        "path": manifest.origin,
    }


def _claim(core: Core, pane: Pane, claim: Claim) -> dict[str, Any]:
    why_not = core.why_not(pane, claim)
    return {
        "source": claim.source,
        "id": claim.id,
        "state": claim.state.value if claim.state else None,
        "age": round(core.now - claim.at, 1),
        "live": not why_not,
        "why_not": why_not,
        "message": claim.message,
    }


def _looks(core: Core, pane: Pane) -> dict[str, Any]:
    rhythm = core.planner.rhythms.get(pane.key)

    def ago(at: float) -> float | None:
        return round(core.now - at, 2) if at > float("-inf") else None

    return {
        "looked": ago(pane.looked_at),
        "wrote": ago(pane.wrote_at),
        "typed": ago(pane.typed_at),
        "pulse": rhythm is not None and rhythm.heard,
        "equal_looks": rhythm.same if rhythm else 0,
        "next": round(rhythm.due()[0] - core.now, 2) if rhythm else None,
        "title_counts": bool(pane.screen and pane.screen.title),
    }
