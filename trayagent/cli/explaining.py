"""The page that `explain` prints: identity, rules, claims, decision, attention, alerts.

Everything comes from the daemon as JSON; what it has not sent (an older daemon, a pane without
an agent) is left out.
"""

from __future__ import annotations

from shutil import get_terminal_size
from typing import Any

import click

from trayagent.cli.show import cells, clean, cut, duration, fields, is_terminal, state_text, style
from trayagent.ipc.schema import Json

_ROWS = 12


def explained(answer: Json) -> None:
    """The whole page."""
    decision = answer.get("decision") or {}
    _head(answer, decision)
    _identity(answer.get("identity") or {})
    _manifest(answer.get("manifest"))
    if answer.get("trace"):
        rules(answer["trace"])
    _evidence(answer.get("evidence") or [])
    _claims(answer.get("claims") or [])
    for title, key in (("Attention", "attention"), ("Looks", "looks"), ("Alerts", "alerts")):
        if answer.get(key):
            _title(title)
            fields(((str(name), _value(value)) for name, value in _pairs(answer[key])), "  ")


def _title(text: str) -> None:
    click.echo()
    click.echo(style(text, bold=True))


def _head(answer: Json, decision: Json) -> None:
    labels = answer.get("labels") or {}
    where = "  ".join(
        clean(labels.get(name)) for name in ("project", "branch", "agent_name") if labels.get(name)
    )
    click.echo(f"{clean(answer.get('pane'))}  {where}".rstrip())
    kind = decision.get("kind") or decision.get("reason")
    lasted = f", for {duration(decision['for'])}" if decision.get("for") is not None else ""
    click.echo(f"{state_text(decision.get('state', 'unknown'))}{f' ({kind})' if kind else ''}{lasted}")
    held = decision.get("held")
    values = (
        ("why", clean(decision.get("why"))),
        ("source", decision.get("source")),
        ("rule", decision.get("rule")),
        ("asks", clean(decision.get("message"))),
        ("fingerprint", decision.get("fingerprint")),
        ("waiting", f"to be told as {held}" if held else ""),
        ("muted", "yes" if answer.get("muted") else ""),
    )
    fields(values, "  ")


def _identity(identity: Json) -> None:
    _title("Who is in front")
    chain = identity.get("chain") or []
    values = (
        ("agent", identity.get("agent") or "nobody known"),
        ("certainty", identity.get("certainty")),
        ("why", clean(identity.get("why"))),
        ("through", clean(" > ".join(map(str, chain)))),
        ("process", identity.get("pid") or identity.get("process")),
        ("one-shot run", "yes" if identity.get("headless") else ""),
        ("front", identity.get("front")),
        ("behind a relay, on", clean(identity.get("relay"))),
    )
    fields(values, "  ")
    for process in identity.get("job") or []:
        argv = clean(" ".join(map(str, process.get("argv") or [])))
        click.echo(f"    {process.get('pid')}  {clean(process.get('name'))}  {argv}".rstrip())


def _manifest(manifest: Json | None) -> None:
    _title("Rules")
    if manifest is None:
        click.echo("  none: no agent is known here")
        return
    version, source = manifest.get("version"), manifest.get("source") or manifest.get("dialect")
    words = [manifest.get("id"), f"version {version}" if version else "", source, manifest.get("path")]
    click.echo("  " + "  ".join(clean(word) for word in words if word))


def rules(trace: Json) -> None:
    """Each rule with its verdict, and the matcher that decided; of the winner also what it read."""
    for rule in trace.get("rules") or []:
        won, matched = rule.get("won"), rule.get("matched")
        mark = style("=>", fg="green", bold=True) if won else "ok" if matched else style("--", dim=True)
        said = f"{rule.get('priority', ''):>4}  {rule.get('id')}  {rule.get('state')}  [{rule.get('region')}]"
        line = f"  {mark} {said}"
        decided = clean(rule.get("decided"))
        if decided and not matched:
            line += style(f"  failed at: {_fitting(decided, cells(line) + 13)}", dim=True)
        click.echo(line)
        if won:
            shown = [clean(row) for row in rule.get("rows") or []]
            shown = [row for row in shown if row]
            for row in shown[-_ROWS:]:
                click.echo(style(f"           | {row}", dim=True))


def _fitting(text: str, used: int) -> str:
    """What a terminal's line has room for (patterns are long), but never too little to tell them apart."""
    return cut(text, max(24, get_terminal_size().columns - used)) if is_terminal() else text


def _evidence(evidence: list[Json]) -> None:
    if not evidence:
        return
    _title("What each source says (the first that speaks decides)")
    fields(((row["source"], f"{row.get('state') or '-'}  {clean(row.get('why'))}") for row in evidence), "  ")


def _claims(claims: list[Json]) -> None:
    if not claims:
        return
    _title("Claims of programs")
    for claim in claims:
        age = f"{duration(claim['age'])} ago" if claim.get("age") is not None else ""
        because = clean(claim.get("why_not")) or "no longer counts"
        live = "" if claim.get("live", True) else f"  (does not count: {because})"
        message = clean(claim.get("message"))
        name = f" {clean(claim['id'])}" if claim.get("id") else ""
        click.echo(f"  {claim['source']}{name}  {claim.get('state') or '-'}  {age}{live}  {message}".rstrip())


def _pairs(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(number), item) for number, item in enumerate(value if isinstance(value, list) else [value])]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {_value(inner)}" for name, inner in value.items() if inner not in (None, "", [], {})
        )
    if isinstance(value, list):
        return ", ".join(_value(inner) for inner in value)
    return clean(value)
