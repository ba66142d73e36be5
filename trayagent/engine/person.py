"""The person and the desktop: what is looked at, clicked, muted, read, paused and configured."""

from __future__ import annotations

from trayagent.engine.core import Core
from trayagent.engine.looking import see_screen
from trayagent.identity import identify
from trayagent.model.effects import RecordRead
from trayagent.model.events import (
    ActiveWindow,
    BannerClosed,
    BannerFailed,
    BannerShown,
    Configured,
    DesktopQuiet,
    Forget,
    Locked,
    ManifestsChanged,
    MuteSet,
    Paused,
    Programs,
    Read,
    Recalled,
    Resumed,
    UserIdle,
    Visited,
    Wall,
)
from trayagent.model.keys import PaneKey

# A window that gets the keyboard shows what its client shows now, which the last list may not say.
CLIENTS_AFTER = 0.05


def active_window(core: Core, event: ActiveWindow) -> None:
    """Another window has the keyboard."""
    core.attention.window = event
    for server, clients in core.attention.clients.items():
        if any(core.attention.in_front(client) for client in clients):
            core.planner.want_clients(server, core.now + CLIENTS_AFTER)
    core.look_at_seen()


def user_idle(core: Core, event: UserIdle) -> None:
    """How long nobody has touched the desktop."""
    core.attention.idle, core.attention.idle_at = event.seconds, core.now
    core.look_at_seen()


def locked(core: Core, event: Locked) -> None:
    """The session was locked or unlocked."""
    core.attention.locked = event.locked


def desktop_quiet(core: Core, event: DesktopQuiet) -> None:
    """The desktop's do-not-disturb was switched."""
    core.attention.quiet = event.on
    core.tray.dirty = True


def wall(core: Core, event: Wall) -> None:
    """The wall clock was read, or set."""
    core.wall_offset, core.zone = event.offset, event.zone or core.zone
    core.tray.dirty = True


def resumed(core: Core, event: Resumed) -> None:
    """The machine slept: everything is looked at before anything is told."""
    for key, pane in core.panes.items():
        if pane.here:
            core.planner.want(key, core.now, "resumed")
            core.catching.add(key)
    for server in core.planner.servers:
        core.planner.want_list(server, core.now)


def visited(core: Core, event: Visited) -> None:
    """The person went to a pane through us."""
    _seen(core, event.pane, "clicked")


def read(core: Core, event: Read) -> None:
    """Ended items are read."""
    keys = {event.pane} if event.pane is not None else core.panes.keys() | core.recent.unread()
    for key in sorted(keys):
        _seen(core, key, "command")


def _seen(core: Core, key: PaneKey, how: str) -> None:
    """What a pane shows was seen; and its last item is read, though the pane may show it no longer."""
    pane = core.panes.get(key)
    if pane is not None:
        core.see(pane, how)
    told = any(isinstance(effect, RecordRead) and effect.pane == key for effect in core.out)
    if not told and key in core.recent.unread():
        core.out.append(RecordRead(key, core.now, how))


def forget(core: Core, event: Forget) -> None:
    """The pane's row leaves the list until the pane changes."""
    pane = core.panes.get(event.pane)
    if pane is not None:
        core.see(pane, "command")
        pane.forgotten = pane.moment
        core.tray.dirty = True


def policy(core: Core, event: MuteSet | Paused | BannerShown | BannerFailed | BannerClosed) -> None:
    """What the alert policy keeps account of itself."""
    core.out += core.alerts.feed(event, core, core.now)
    core.tray.dirty = True


def configured(core: Core, event: Configured) -> None:
    """The config was read anew."""
    core.config_problems = event.problems
    core.tray.dirty = True
    if event.settings == core.settings:
        return
    core.settings = event.settings
    core.attention.away_after = event.settings.alerts.away_after
    core.alerts.configure(event.settings, core.now)
    for pane in core.panes.values():
        if pane.here:
            core.judge(pane)


def programs(core: Core, event: Programs) -> None:
    """The person's programs were looked for."""
    core.programs = event
    core.tray.dirty = True


def recalled(core: Core, event: Recalled) -> None:
    """An alert from before this start."""
    core.recent.recall(event, core.wall_offset)
    core.tray.dirty = True


def manifests_changed(core: Core, event: ManifestsChanged) -> None:
    """The manifests were read anew: who is an agent, and what the last screens say, may have changed."""
    for pane in list(core.panes.values()):
        if pane.identity is not None:
            pane.manifest = core.manifests.get(pane.identity.agent)
            core.relabel(pane)
            if pane.screen is not None:
                see_screen(core, pane, pane.screen, again=True)
                if pane.screen.joined is None and core.reads_joined(pane.key):
                    core.planner.want(pane.key, core.now, "rules that read joined rows")
        elif pane.job is not None and identify(pane.job, core.index, None) is not None:
            pane.job = None  # the next examination takes it up
            core.planner.want_list(pane.key.server, core.now)
