"""All manifests' `[detect]` tables, turned around: from a name or a path to the agent.

Built once per set of manifests. Where two manifests claim one name the earlier keeps
it, and `conflicts` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from trayagent.identity.argv import base_name, family
from trayagent.identity.paths import Glob, bare, components, is_entry, package_windows, version_owner
from trayagent.manifest.format import Detect

_COMM_BYTES = 15  # the kernel keeps no more of a process's name


class Detectable(Protocol):
    """What the index needs of a manifest."""

    @property
    def id(self) -> str:
        """The agent's canonical id."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other ids that mean the same agent."""

    @property
    def detect(self) -> Detect | None:
        """Its identity, None if the file tells none (foreign formats)."""


@dataclass(frozen=True, slots=True)
class Index:
    """Lookups from process facts to agent ids. Build it with `Index.build`."""

    detects: Mapping[str, Detect]
    names: Mapping[str, str]
    packages: Mapping[str, str]
    globs: tuple[tuple[Glob, str], ...] = ()
    proofs: Mapping[str, tuple[Glob | str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    ids: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    configured: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    conflicts: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        manifests: Iterable[Detectable],
        configured: Iterable[tuple[str, str]] = (),
        fallback: Iterable[Detectable] = (),
    ) -> Index:
        """The index of `manifests`. configured: (process name, agent) pairs of the user, which need no
        proof. fallback: manifests that lend their `[detect]` to those of the same id that have none."""
        builder = _Builder({manifest.id: manifest.detect for manifest in fallback if manifest.detect})
        for manifest in manifests:
            builder.add(manifest)
        mine = {base_name(name): agent for name, agent in configured}
        return cls(
            detects=MappingProxyType(builder.detects),
            names=MappingProxyType(builder.names),
            packages=MappingProxyType(builder.packages),
            globs=tuple(builder.globs),
            proofs=MappingProxyType(builder.proofs),
            ids=MappingProxyType(builder.ids),
            configured=MappingProxyType(mine),
            conflicts=tuple(builder.conflicts),
        )

    def detect(self, agent: str) -> Detect:
        """The agent's `[detect]` table, an empty one if it has none."""
        return self.detects.get(agent, _NOTHING)

    def agent_id(self, word: str) -> str | None:
        """The agent that a user or another program calls `word`: its id, an alias, or a process name."""
        plain = word.strip().lower()
        return self.ids.get(plain) or self.configured.get(plain) or self.names.get(plain)

    def by_name(self, name: str) -> str | None:
        """The agent whose process goes by this base name; proof is another question (`proven`)."""
        return self.configured.get(name) or self.names.get(name)

    def proven(self, agent: str, name: str, exe: str | None) -> bool:
        """Whether a name alone, or with this executable, is enough: a short name may belong to
        another program, and an unreadable executable proves nothing."""
        required = self.proofs.get(agent)
        if not required or name in self.configured:
            return True
        if exe is None:
            return False
        base, parts = base_name(exe), components(exe)
        accepted = (base, family(base))
        return any(want in accepted if isinstance(want, str) else want.matches(parts) for want in required)

    def by_path(self, path: str) -> str | None:
        """The agent to which a file belongs by its place: an executable glob, or a binary named like
        its version below a folder named like the agent."""
        parts = components(path)
        for glob, agent in self.globs:
            if glob.matches(parts):
                return agent
        owner = self.names.get(version_owner(path))
        return owner if owner is not None and self.detect(owner).versioned else None

    def by_package_path(self, path: str) -> tuple[str, str] | None:
        """(agent, package) if the path lies in an agent's package and is its entry point."""
        for package, below in package_windows(path):
            agent = self.packages.get(package)
            if agent is not None:
                return (agent, package) if is_entry(below, self.detect(agent).entry_points) else None
        return None

    def by_package(self, token: str) -> str | None:
        """The agent that a package manager calls so, with or without a version."""
        return self.packages.get(bare(token))

    def by_module(self, module: str) -> str | None:
        """The agent whose Python module this is (`aider`, `kimi_cli.main`)."""
        head = module.split(".")[0].lower()
        return self.packages.get(head) or self.packages.get(head.replace("_", "-"))


_NOTHING = Detect()


class _Builder:
    """Fills the maps of an Index, and notes what is claimed twice."""

    def __init__(self, lent: Mapping[str, Detect]) -> None:
        self.detects: dict[str, Detect] = {}
        self.names: dict[str, str] = {}
        self.packages: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.globs: list[tuple[Glob, str]] = []
        self.proofs: dict[str, tuple[Glob | str, ...]] = {}
        self.conflicts: list[str] = []
        self._lent = lent

    def add(self, manifest: Detectable) -> None:
        """Enter one manifest."""
        agent = manifest.id
        for word in (agent, *manifest.aliases):
            self._claim(self.ids, word.lower(), agent, "id")
        detect = manifest.detect or self._lent.get(agent)
        if detect is None:
            return
        self.detects[agent] = detect
        for name in detect.names:
            plain = base_name(name)
            self._claim(self.names, plain, agent, "process name")
            cut = name.lower().encode()[:_COMM_BYTES].decode(errors="ignore")
            if cut != name.lower():
                self._claim(self.names, cut, agent, "process name")
        for package in detect.packages:
            self._claim(self.packages, bare(package), agent, "package")
        self.globs.extend((Glob(pattern), agent) for pattern in detect.exe_globs)
        self.proofs[agent] = tuple(
            Glob(want) if any(letter in want for letter in "/*?[") else want for want in detect.require_exe
        )

    def _claim(self, table: dict[str, str], key: str, agent: str, what: str) -> None:
        """Enter a key unless another agent has it."""
        holder = table.setdefault(key, agent)
        if holder != agent:
            self.conflicts.append(f"the {what} {key!r} of {agent} belongs to {holder} already")
