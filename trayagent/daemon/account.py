"""What the daemon can say of itself as a whole: everything that is wrong, and its manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


def manifest_rows(parts: Parts) -> list[dict[str, Any]]:
    """What `manifests list` shows."""
    return [
        {
            "id": manifest.id,
            "name": manifest.name,
            "version": manifest.version,
            "source": parts.library.tiers.get(manifest.id, ""),
            "path": manifest.origin,
            "rules": len(manifest.rules),
        }
        for manifest in parts.library.manifests
    ]


def problems(parts: Parts) -> list[str]:
    """Everything that is wrong now, a line each."""
    lines = [*parts.config.messages, *(str(one) for one in parts.library.problems if one.fatal)]
    lines += [f"{one.place}: {one.text}" for one in parts.tmux.problems()]
    lines += parts.engine.problems().values()
    for part in (parts.bus, parts.notifier, parts.windows, parts.quiet, parts.sound):
        lines += part.problems()
    if parts.tray is not None:
        lines += parts.tray.problems()
    if parts.ledger.problem:
        lines.append(parts.ledger.problem)
    return lines
