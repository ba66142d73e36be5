"""All the parts of a running daemon, made from its options and settings, and their common life."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import resource
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import platformdirs

from trayagent import resources
from trayagent.config.load import Config
from trayagent.config.watch import ConfigWatch
from trayagent.daemon.actions import Actions
from trayagent.daemon.choices import Choices
from trayagent.daemon.ends import Ends
from trayagent.daemon.manifests import Manifests
from trayagent.daemon.options import Options
from trayagent.daemon.pump import Pump
from trayagent.daemon.sounds import Sounds
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify.choose import notifier
from trayagent.desktop.programs import Launcher
from trayagent.desktop.quiet.watch import QuietWatch
from trayagent.desktop.sound.play import SoundPlayer
from trayagent.desktop.tray.sni import SniTray
from trayagent.desktop.window.choose import windows
from trayagent.desktop.window.lock import LockWatch
from trayagent.desktop.window.systembus import SystemBus
from trayagent.engine import Engine
from trayagent.host.clock import Clock, ClockWatch
from trayagent.host.exits import ProcessWatch
from trayagent.host.procfs import Procfs
from trayagent.host.pulse import TtyPulse
from trayagent.host.repo import Repos
from trayagent.identity.insight import Insight
from trayagent.ledger.ledger import Ledger
from trayagent.manifest.load import Library
from trayagent.model.effects import Effect, Tray
from trayagent.model.events import Clients, Configured, Event, Frame, MenuOpening, Panes, PulseState, Tick
from trayagent.model.panes import PaneInfo
from trayagent.model.states import RANK
from trayagent.model.view import PaneView
from trayagent.reports.options import Options as PaneOptions
from trayagent.sources.tmux.source import TmuxSource

log = logging.getLogger("trayagent")


def state_folder(options: Options) -> Path:
    """Where ledger, log and the menu's choices are kept."""
    return options.state or Path(platformdirs.user_state_dir("trayagent"))


class Parts:
    """The daemon's parts. stop: called with a reason when somebody wants it to end."""

    def __init__(self, options: Options, stop: Callable[[str], None]) -> None:
        self.options, self.stop = options, stop
        self.config = Config(options.config)
        self._notes: dict[str, str] = {}
        for line in self.config.reload().said:
            log.warning("%s", line)
        self.clock = Clock()
        self.choices = Choices(state_folder(options) / "choices.json")
        if self.choices.problem:
            self._report("choices", self.choices.problem)
        self.settings = self.choices.applied(self.config.settings)
        self.manifests = Manifests(self, state_folder(options))
        self.ledger = Ledger(
            state_folder(options) / "ledger.db", self.settings.ledger, report=self._report_from_thread
        )
        self.tooltip = ""
        self._option_reader = PaneOptions()
        self.engine = self._engine()
        self.ends = Ends(self)
        self.pump = Pump(self.engine, self.clock.now, self.ends.perform, self.clock.changes)
        self.actions = Actions(self)
        self.ends.watchers.append(self._notice)
        self.processes = Procfs(
            Insight(self.engine.core.index), report=lambda text: self._report("proc", text)
        )
        self._make_desktop()
        sockets = self.settings.watch.tmux.sockets
        only = str(options.only_server) if options.only_server else None
        self.tmux = TmuxSource(self._from_source, self.clock.now, sockets=sockets, only=only)
        self.pulse: TtyPulse | None = None
        self.exits: ProcessWatch | None = None
        self.clock_watch: ClockWatch | None = None

    @property
    def library(self) -> Library:
        """The manifests in force."""
        return self.manifests.library

    def _engine(self) -> Engine:
        ids = self.ledger.last_ids()
        host = socket.gethostname().lower()
        return Engine(
            self.settings,
            self.library,
            self.manifests.index(),
            started=self.clock.now(),
            host_names=frozenset({host, host.partition(".")[0], platform.node().lower()}),
            ticks=os.sysconf("SC_CLK_TCK"),
            first_alert=ids.alert,
            first_transition=ids.transition,
        )

    def _make_desktop(self) -> None:
        self.bus = SessionBus()
        icon = str(resources.folder("icons") / "hicolor" / "48x48" / "apps" / "trayagent.png")
        self.notifier = notifier(self.settings.notify, self.bus, self.feed, self._pressed, icon=icon)
        self.windows = windows(self.bus)
        self.quiet = QuietWatch(self.feed, self.bus)
        self.system_bus = SystemBus(os.environ)
        self.lock = LockWatch(self.feed, self.bus, self.system_bus)
        self.launcher = Launcher(display=lambda: self.windows.display)
        self.sounds = Sounds(self)
        self.sound = SoundPlayer(lambda text: self._report("sound", text))
        self.repos = Repos(self.clock.now)
        self.tray: SniTray | None = None
        if self.options.tray and self.settings.tray.backend != "off":
            self.tray = SniTray(
                self.bus,
                lambda action: self.actions.act(action, self.tray.take_token() if self.tray else None),
                on_about_to_show=lambda: self.feed(MenuOpening()),
                on_problem=self._tray_problem,
            )

    # -- life ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start every part; the icon first, for it is what a person waits for."""
        self._raise_file_limit()
        self.bus.start()
        if self.tray is not None:
            self.tray.start()
        self.notifier.start()
        self.ledger.start()
        self._tell_time()
        self._restore_choices()
        self._remember()
        self._listen()
        self.windows.start(self.feed)
        self.quiet.start()
        self.system_bus.start()
        self.lock.start()
        self._config_watch = ConfigWatch(self.config.path, self.configure)
        self._config_watch.start()
        self.manifests.start()
        self.feed(Tick())
        await self.discover()

    def _remember(self) -> None:
        """Tell the engine what was before it."""
        if self.config.problems:
            self.feed(self._configured())
        for memory in self.ledger.remembered():
            self.feed(memory)
        for past in self.ledger.recalled(self.settings.tray.recent):
            self.feed(past)
        self.bus.subscribe(lambda connected: self.feed(self.launcher.found()))

    def _tell_time(self) -> None:
        for change in self.clock.changes():
            self.feed(change)

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self.exits = ProcessWatch(self.feed, loop)
        self.clock_watch = ClockWatch(self.clock, self.feed, loop)
        if self.settings.watch.pulse:
            self.pulse = TtyPulse(self.feed, loop)
        else:
            self.feed(PulseState(False))

    async def close(self) -> None:
        """Stop every part, and leave everything saved."""
        self.pump.stop()
        await self.ends.close()
        for part in (self.pulse, self.exits, self.clock_watch):
            if part is not None:
                part.close()
        await self.tmux.close()
        await self.notifier.stop()
        if self.tray is not None:
            await self.tray.close()
        await self.windows.stop()
        await self.quiet.stop()
        await self.lock.stop()
        await self.system_bus.close()
        await self.sound.stop()
        self._config_watch.stop()
        self.manifests.stop()
        self.processes.close()
        await self.bus.close()
        self.remember_choices()
        await asyncio.to_thread(self.ledger.close)

    def _raise_file_limit(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError) as error:
            log.info("the limit of %d open files stays: %s", soft, error)

    async def discover(self) -> None:
        """Look for tmux servers, and say once what stands in the way."""
        await self.tmux.discover()
        for one in self.tmux.problems():
            self._report(f"tmux {one.place}", f"{one.place}: {one.text}")

    # -- events ----------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        """Hand an event to the engine."""
        self.pump.feed(event)

    def _from_source(self, event: Event) -> None:
        if isinstance(event, Clients) and event.clients:
            self.ends.spawn(self._clients(event))
            return
        self.feed(event)
        if isinstance(event, Frame):
            self._read_options(event.info)
        elif isinstance(event, Panes):
            for info in event.panes:
                self._read_options(info)

    async def _clients(self, event: Clients) -> None:
        """A client's WINDOWID is inherited and may name another terminal's window: ask for the real one."""
        found = await asyncio.gather(*(self.windows.window_of(client) for client in event.clients))
        clients = (replace(c, window_hint=window) for c, window in zip(event.clients, found, strict=True))
        self.feed(replace(event, clients=tuple(clients)))

    def _read_options(self, info: PaneInfo) -> None:
        for claim in self._option_reader.claims(info, self.clock.now(), self.clock.wall_offset()):
            self.feed(claim)

    def _notice(self, effect: Effect) -> None:
        if isinstance(effect, Tray):
            self.tooltip = effect.view.tooltip

    def _pressed(self, alert: int, action: str, token: str | None) -> None:
        self.actions.banner(alert, action, token)

    def _tray_problem(self, problem: str) -> None:
        self._report("tray", problem)
        self.actions.errands.tell("trayagent has no place for its icon", problem)

    # -- what others ask -------------------------------------------------------------------

    def views(self) -> tuple[PaneView, ...]:
        """All listed panes, the loudest and longest first."""
        views = self.engine.views(self.clock.now())
        return tuple(sorted(views, key=lambda view: (RANK[view.state], view.since, view.key)))

    def remember_choices(self) -> None:
        """Keep mutes, pause and the sounds' mode over a restart."""
        problem = self.choices.save(self.engine.core.alerts.state(self.clock.wall_offset()))
        if problem:
            self._report("choices", problem)

    def _restore_choices(self) -> None:
        if self.choices.alerts is not None:
            offset, now = self.clock.wall_offset(), self.clock.now()
            for line in self.engine.core.alerts.restore(self.choices.alerts, offset, now):
                log.warning("%s: %s", self.choices.path, line)

    def apply_choices(self) -> None:
        """Put what was just chosen into force, and keep it."""
        self.settings = self.choices.applied(self.config.settings)
        self.feed(self._configured())
        self.remember_choices()

    async def reload(self) -> list[str]:
        """Read config and manifests anew; what is broken leaves the old in force."""
        self.configure()
        await self.manifests.reload()
        return [*self.config.messages, *(str(one) for one in self.library.problems)]

    def configure(self) -> None:
        """Take the config file's new contents, if they make sense."""
        reloaded = self.config.reload()
        for line in reloaded.said:
            log.warning("%s", line)
        if reloaded.changed:
            self.settings = self.choices.applied(self.config.settings)
            self.tmux.watch(self.settings.watch.tmux.sockets)
            self.ledger.configure(self.settings.ledger)
            self.manifests.configure()
        self.feed(self._configured())

    def _configured(self) -> Configured:
        """The settings in force, and what is wrong with the config file, by its bare name: rows are short."""
        name = self.config.path.name
        return Configured(self.settings, tuple(problem.render(name) for problem in self.config.problems))

    def _report_from_thread(self, topic: str, text: str) -> None:
        log.warning("%s: %s", topic, text)

    def _report(self, topic: str, text: str) -> None:
        if self._notes.get(topic) != text:
            self._notes[topic] = text
            log.warning("%s", text)
