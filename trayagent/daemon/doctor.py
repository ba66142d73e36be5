"""`doctor`: each thing that an alert needs, whether it is there, and what to do if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trayagent.desktop.bus import REMEDY

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


@dataclass(frozen=True, slots=True)
class Check:
    """One line of doctor. ok None: it works, but less well than it could. hint: what to do."""

    name: str
    ok: bool | None
    text: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the socket sends it."""
        return {"name": self.name, "ok": self.ok, "text": self.text, "hint": self.hint}


async def checks(parts: Parts) -> list[Check]:
    """All checks, in the order in which an alert flows."""
    return [
        _tmux(parts),
        *_refused(parts),
        _pulse(parts),
        _bus(parts),
        _tray(parts),
        _notify(parts),
        _focus(parts),
        _config(parts),
        *_manifests(parts),
        _ledger(parts),
    ]


def _tmux(parts: Parts) -> Check:
    core = parts.engine.core
    agents = sum(pane.identity is not None for pane in core.panes.values())
    servers = len(core.planner.servers)
    if servers:
        counts = ((servers, "server"), (len(core.panes), "pane"), (agents, "agent"))
        return Check("tmux", True, ", ".join(f"{count} {word}{'s' * (count != 1)}" for count, word in counts))
    hint = "start tmux, or name its socket in watch.tmux.sockets"
    return Check("tmux", None, "no tmux server of yours is running", hint)


def _refused(parts: Parts) -> list[Check]:
    return [Check("tmux", False, f"{one.place}: {one.text}") for one in parts.tmux.problems()]


def _pulse(parts: Parts) -> Check:
    planner = parts.engine.core.planner
    if not planner.pulse:
        return Check(
            "pulse",
            None,
            "terminals are polled, which costs a little more CPU and time",
            "raise fs.inotify.max_user_instances (sysctl)",
        )
    if planner.deaf:
        return Check("pulse", None, f"{len(planner.deaf)} terminals cannot be heard and are polled")
    return Check("pulse", True, "every terminal's writes are heard")


def _bus(parts: Parts) -> Check:
    if parts.bus.connected:
        return Check("session bus", True, f"connected as {parts.bus.unique_name}")
    return Check(
        "session bus",
        False,
        "; ".join(parts.bus.problems()) or "no session bus",
        REMEDY,
    )


def _tray(parts: Parts) -> Check:
    if parts.tray is None:
        return Check("tray", None, "switched off")
    if not parts.bus.connected:
        return Check("tray", False, "there is no session bus to show the icon on")
    problems = parts.tray.problems()
    if problems:
        return Check("tray", False, problems[0], "; ".join(problems[1:]))
    return Check("tray", True, "the icon is registered")


def _notify(parts: Parts) -> Check:
    if not parts.bus.connected and parts.notifier.name == "freedesktop":
        return Check("notifications", False, "there is no session bus to send banners on")
    problems = parts.notifier.problems()
    can = parts.notifier.capabilities
    if problems:
        return Check("notifications", False, problems[0], "; ".join(problems[1:]))
    missing = [] if can.actions else ["it has no buttons: use the tray or `trayagent jump`"]
    return Check(
        "notifications", True if can.actions else None, can.server or parts.notifier.name, "".join(missing)
    )


def _focus(parts: Parts) -> Check:
    can = parts.windows.capabilities
    problems = parts.windows.problems()
    if can.active:
        return Check("focus", True, can.about or "the active window is known")
    return Check(
        "focus",
        None,
        problems[0] if problems else can.about or "the active window is not known",
        "banners also come for panes that you are looking at",
    )


def _config(parts: Parts) -> Check:
    if parts.config.messages:
        return Check(
            "config", False, parts.config.messages[0], "mend the file; the last good settings stay in force"
        )
    return Check("config", True, str(parts.config.path))


def _manifests(parts: Parts) -> list[Check]:
    problems = parts.library.problems
    if not problems:
        return [Check("manifests", True, f"{len(parts.library.manifests)} agents are known")]
    return [Check("manifests", not one.fatal and None, str(one)) for one in problems]


def _ledger(parts: Parts) -> Check:
    problem = parts.ledger.problem
    if problem:
        return Check("ledger", False, problem)
    return Check("ledger", True, str(parts.ledger.path))
