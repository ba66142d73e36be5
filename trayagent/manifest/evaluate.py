"""One screen and one manifest give one verdict.

Rules are asked from the highest priority down; title, progress and screen rules
compete alike. The first that matches wins, so an ordinary look stops there; with a
trace all are asked, and the winner is the same one. Most rules fail for want of a
literal, which is found before their region is cut (prefilter.py).
"""

from __future__ import annotations

from trayagent.manifest.format import Manifest, Rule
from trayagent.manifest.gates import holds
from trayagent.manifest.prefilter import met
from trayagent.manifest.prompts import message_of, options_of
from trayagent.manifest.regions import View
from trayagent.manifest.trace import Trace
from trayagent.model.evidence import Verdict
from trayagent.model.panes import Screen
from trayagent.model.states import Kind, State


def evaluate(manifest: Manifest, screen: Screen, trace: Trace | None = None) -> Verdict:
    """What the manifest makes of the screen. Never raises on any text.

    keep: the pane's state stays as it is. With state None the winning rule says so; with a state it
    names one, but is too weak to change it. No state and no keep: no rule matched, and
    the manifest has no fallback.
    """
    view = View(screen)
    winner = _first(manifest, view) if trace is None else _all(manifest, view, trace)
    if winner is None:
        return Verdict(manifest.fallback, manifest.id)
    return _verdict(manifest, winner, view)


def _first(manifest: Manifest, view: View) -> Rule | None:
    found = _literals(manifest, view)
    for rule, needs in zip(manifest.ranked, manifest.prefilter.rules, strict=True):
        if found is None or met(needs, found):
            cut = view.slice(rule.region)
            if cut.matches and holds(rule.gate, cut):
                return rule
    return None


def _all(manifest: Manifest, view: View, trace: Trace) -> Rule | None:
    trace.manifest, trace.origin = manifest.id, manifest.origin
    winner: Rule | None = None
    found = _literals(manifest, view)
    for rule, needs in zip(manifest.ranked, manifest.prefilter.rules, strict=True):
        cut = view.slice(rule.region)
        heard, ear = trace.ear()
        matched = cut.matches and holds(rule.gate, cut, ear) and (found is None or met(needs, found))
        won = matched and winner is None
        winner = rule if won else winner
        trace.add(rule, cut, heard, matched=matched, won=won)
    return winner


def _literals(manifest: Manifest, view: View) -> frozenset[int] | None:
    """The literals on the screen; None where they prove nothing, so that every rule is asked."""
    return None if view.lowered is None else manifest.prefilter.found(view.lowered)


def _verdict(manifest: Manifest, rule: Rule, view: View) -> Verdict:
    prompt = manifest.prompts.get(rule.id)
    state = rule.state
    if prompt is None:
        kind = Kind.OTHER if state is State.BLOCKED else None
        return Verdict(
            state, manifest.id, rule.id, state is None or not rule.strong, kind,
            firm_idle=rule.firm_idle, blocker=rule.blocker,
        )  # fmt: skip
    if state is State.IDLE and prompt.reason is not None:
        state = State.ERROR
    return Verdict(
        state=state,
        manifest=manifest.id,
        rule=rule.id,
        keep=state is None or not rule.strong,
        kind=(prompt.kind or Kind.OTHER) if state is State.BLOCKED else None,
        reason=prompt.reason if state is State.ERROR else None,
        message=message_of(prompt, view),
        options=options_of(prompt, view),
        firm_idle=rule.firm_idle,
        blocker=rule.blocker,
        interrupted=prompt.interrupted,
    )
