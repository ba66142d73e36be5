"""Which manifest serves each agent, of all that were read.

Shelves stand in order of strength: the user's own, imported ones, updates, and last what
came with the program. A manifest replaces a whole agent, by its id or one of its aliases;
rules are never merged. Tools call agents by different names (`claude-code`, `agy`): an
id that is an alias of a bundled agent becomes that agent's id, so that settings, history
and hooks keep their name.

Three things a manifest may lack are lent by the bundled one of the same agent, since
they say nothing about the screen: how its process is recognised, its name, and, where the
file is not trusted with them, hooks and answers. A file without any rules (it only
recognises a process) is read by the rules of its family, or of the next shelf.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trayagent.manifest.format import Manifest, Problem

BUNDLED, UPDATED = "bundled", "updated"


@dataclass(frozen=True, slots=True)
class Shelf:
    """Manifests of one strength, each id once. tier: `user`, a tool's name, `updated` or `bundled`.
    trusted: their hooks and answers count."""

    tier: str
    manifests: Sequence[Manifest]
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A manifest that does not serve. by: the file that serves in its place."""

    manifest: Manifest
    tier: str
    by: str
    why: str


@dataclass(slots=True)
class Choice:
    """What serves. manifests: by rank, then id. tiers: id to the shelf it came from."""

    manifests: tuple[Manifest, ...] = ()
    tiers: dict[str, str] = field(default_factory=dict)
    shadowed: list[Shadowed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def choose(shelves: Sequence[Shelf]) -> Choice:
    """The manifest of each agent, from shelves of which the first is the strongest."""
    bundled = {m.id: m for shelf in shelves if shelf.tier == BUNDLED for m in shelf.manifests}
    canonical = names_of(bundled.values())
    choice = Choice()
    chosen: dict[str, Manifest] = {}
    for shelf in shelves:
        taken = names_of(chosen.values())
        for read in shelf.manifests:
            manifest = _renamed(read, canonical.get(read.id))
            if manifest.id in taken:
                by = taken[manifest.id].origin
                choice.shadowed.append(Shadowed(manifest, shelf.tier, by, f"{by} is stronger"))
            elif manifest.id in chosen:
                text = f"{manifest.id!r} is already defined in {chosen[manifest.id].origin}"
                choice.problems.append(Problem(manifest.origin, text, key="id"))
            elif shelf.tier == UPDATED and not newer(manifest, bundled.get(manifest.id)):
                by = bundled[manifest.id].origin
                why = f"version {manifest.version or '?'} is not newer than the bundled one"
                choice.shadowed.append(Shadowed(manifest, shelf.tier, by, why))
            else:
                named = (canonical.get(name) for name in (manifest.id, *manifest.aliases))
                twin = next((known for known in named if known is not None), None)
                lent = manifest if shelf.tier == BUNDLED else _lent(manifest, twin, shelf.trusted)
                chosen[manifest.id] = lent
                choice.tiers[manifest.id] = shelf.tier
    ready = [_with_rules(manifest, chosen, choice) for manifest in chosen.values()]
    choice.manifests = tuple(sorted((m for m in ready if m is not None), key=lambda m: (-m.rank, m.id)))
    return choice


def names_of(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    """Every id, and every alias that is no id; among equal aliases the first has it."""
    all_of = list(manifests)
    names = {manifest.id: manifest for manifest in all_of}
    for manifest in all_of:
        for alias in manifest.aliases:
            names.setdefault(alias, manifest)
    return names


def newer(manifest: Manifest, other: Manifest | None) -> bool:
    """Whether it is of a later version; a missing segment counts as 0."""
    return other is None or version_key(manifest.version) > version_key(other.version)


def version_key(version: str) -> tuple[int, ...]:
    """A version of numbers and dots as something that sorts; trailing zeros say nothing."""
    numbers = [int(part) for part in version.split(".") if part.isascii() and part.isdigit()]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _renamed(manifest: Manifest, bundled: Manifest | None) -> Manifest:
    """The manifest under the id by which the bundled ones know this agent."""
    if bundled is None or bundled.id == manifest.id:
        return manifest
    others = [alias for alias in manifest.aliases if alias != bundled.id]
    return replace(manifest, id=bundled.id, aliases=(manifest.id, *others))


def _lent(manifest: Manifest, twin: Manifest | None, trusted: bool) -> Manifest:
    """The manifest with what it lacks from the bundled one of the same agent."""
    if not trusted:
        acts = (twin.hooks, twin.answers) if twin is not None else (None, ())
        manifest = replace(manifest, hooks=acts[0], answers=acts[1])
    if twin is None:
        return manifest
    detect = manifest.detect or twin.detect
    if manifest.detect is not None and manifest.dialect == "tmux-ide" and twin.detect is not None:
        # Its `commands` are names alone: they add to what is known of the process.
        more = [name for name in manifest.detect.names if name not in twin.detect.names]
        detect = replace(twin.detect, names=(*twin.detect.names, *more))
    return replace(manifest, detect=detect, name=manifest.name or twin.name)


def _with_rules(manifest: Manifest, chosen: Mapping[str, Manifest], choice: Choice) -> Manifest | None:
    """The manifest with rules of its own, of its family, or of the next shelf; None if it cannot serve."""
    if manifest.rules:
        return manifest
    next_one = next((s.manifest for s in choice.shadowed if s.manifest.id == manifest.id), None)
    for other in (chosen.get(manifest.family), next_one):
        if other is not None and other.rules:
            return replace(manifest, rules=other.rules, prompts=other.prompts, fallback=other.fallback)
    if manifest.dialect != "native":
        return manifest  # it recognises a process, and has no opinion of its screen
    text = f"the family {manifest.family!r} has no rules"
    choice.problems.append(Problem(manifest.origin, text, key="family"))
    return None
