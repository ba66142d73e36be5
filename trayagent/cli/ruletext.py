"""The rules of a manifest in words, whatever its dialect: `manifests show`."""

from __future__ import annotations

from typing import Any as AnyValue

from trayagent.manifest.format import All, Any, Contains, Detect, Gate, Manifest, Matches, Not, Rule, Within
from trayagent.manifest.load import Library


def as_data(manifest: Manifest, library: Library) -> dict[str, AnyValue]:
    """All of it as JSON values."""
    shadowed = [one for one in library.shadowed if one.manifest.id == manifest.id]
    return {
        "id": manifest.id,
        "name": manifest.name,
        "version": manifest.version,
        "aliases": list(manifest.aliases),
        "family": manifest.family,
        "dialect": manifest.dialect,
        "source": library.tiers.get(manifest.id, ""),
        "path": manifest.origin,
        "shadows": [f"{one.tier}: {one.manifest.origin}" for one in shadowed],
        "detect": _detect(manifest.detect),
        "rules": [_rule(manifest, rule) for rule in manifest.ranked],
        "otherwise": manifest.fallback.value if manifest.fallback is not None else "no opinion",
        "hooks": [rule.event for rule in manifest.hooks.rules] if manifest.hooks else [],
        "answers": dict(manifest.answers),
    }


def _detect(detect: Detect | None) -> dict[str, AnyValue]:
    told = {name: getattr(detect, name) for name in Detect.__slots__} if detect is not None else {}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items() if value}


def _rule(manifest: Manifest, rule: Rule) -> dict[str, AnyValue]:
    prompt = manifest.prompts.get(rule.id)
    marks = {
        "visible_idle": rule.firm_idle, "visible_blocker": rule.blocker, "turn ended": rule.turn_ended,
        "weak": not rule.strong, "interrupted": prompt is not None and prompt.interrupted,
    }  # fmt: skip
    return {
        "id": rule.id,
        "state": rule.state.value if rule.state is not None else "keep",
        "priority": rule.priority,
        "region": str(rule.region),
        "kind": prompt.kind.value if prompt is not None and prompt.kind else None,
        "reason": prompt.reason.value if prompt is not None and prompt.reason else None,
        "message": list(prompt.message) if prompt is not None else [],
        "marks": [name for name, given in marks.items() if given],
        "gate": _gate(rule.gate, rule),
    }


def _gate(gate: Gate, rule: Rule) -> AnyValue:
    """A gate as lists under `all`, `any`, `not`, and matchers as strings."""
    if isinstance(gate, Contains):
        marks = [] if gate.fold else ["this case"]
        marks += ["whole token"] if gate.whole_token else []
        return f"contains '{gate.text}'" + (f" ({', '.join(marks)})" if marks else "")
    if isinstance(gate, Matches):
        return f"{'line_regex' if gate.by_line else 'regex'} '{gate.pattern.source}'"
    if isinstance(gate, Within):
        inner = _gate(gate.member, rule)
        return f"in {rule.region.parts[gate.part]}: {inner}"
    if isinstance(gate, Not):
        return {"not": _gate(gate.member, rule)}
    assert isinstance(gate, All | Any)
    return {"all" if isinstance(gate, All) else "any": [_gate(member, rule) for member in gate.members]}


def as_text(data: dict[str, AnyValue]) -> str:
    """The same for a person."""
    lines = [f"{data['id']}  {data['name']}".rstrip()]
    for key in ("version", "dialect", "source", "path", "family"):
        if data[key]:
            lines.append(f"  {key:8} {data[key]}")
    for key in ("aliases", "shadows", "hooks"):
        if data[key]:
            lines.append(f"  {key:8} {', '.join(data[key])}")
    for key, value in data["detect"].items():
        told = ", ".join(" ".join(v) if isinstance(v, list | tuple) else str(v) for v in _listed(value))
        lines.append(f"  detect   {key}: {told}")
    lines += ["", "rules, from the first to be asked to the last:"]
    for rule in data["rules"]:
        reason = rule["kind"] or rule["reason"]
        state = f"error ({reason})" if rule["reason"] else rule["state"] + (f" ({reason})" if reason else "")
        marks = f"  [{', '.join(rule['marks'])}]" if rule["marks"] else ""
        lines.append(f"{rule['priority']:6}  {state}  {rule['id']}  in {rule['region']}{marks}")
        lines += _lines(rule["gate"], " " * 8)
        lines += [f"{' ' * 8}says {row}" for row in rule["message"]]
    lines.append(f"{'':6}  {data['otherwise']}  where no rule matches")
    return "\n".join(lines)


def _listed(value: AnyValue) -> list[AnyValue]:
    return value if isinstance(value, list) else [value]


def _lines(gate: AnyValue, indent: str) -> list[str]:
    if isinstance(gate, str):
        return [indent + gate]
    ((word, members),) = gate.items()
    if word == "all":
        return [line for member in members for line in _lines(member, indent)] or [f"{indent}always"]
    if word == "not":
        inner = _lines(members, indent + "  ")
        return [f"{indent}not {inner[0].strip()}"] if len(inner) == 1 else [f"{indent}not all of", *inner]
    if not members:
        return [f"{indent}never"]
    return [f"{indent}one of", *(line for member in members for line in _member(member, indent + "  "))]


def _member(gate: AnyValue, indent: str) -> list[str]:
    """A member of `one of`: several lines of one alternative are held together by a dash."""
    first, *rest = _lines(gate, indent)
    return [f"{indent}- {first.strip()}", *(f"  {line}" for line in rest)]
