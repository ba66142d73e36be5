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

from trayagent.config.load import Config
from trayagent.config.watch import ConfigWatch
from trayagent.daemon.actions import Actions
from trayagent.daemon.choices import Choices
from trayagent.daemon.ends import Ends
from trayagent.daemon.faces import Faces
from trayagent.daemon.manifests import Manifests
from trayagent.daemon.options import Options, state_folder
from trayagent.daemon.pump import Pump
from trayagent.daemon.relays import Relays
from trayagent.daemon.reporting import Reporting
from trayagent.daemon.sounds import Sounds
from trayagent.daemon.spooling import Spooling
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify.base import Notifier
from trayagent.desktop.programs import Launcher
from trayagent.desktop.quiet.watch import QuietWatch
from trayagent.desktop.sound.play import SoundPlayer
from trayagent.desktop.tray.base import Tray
from trayagent.desktop.window.choose import windows
from trayagent.desktop.window.lock import LockWatch
from trayagent.desktop.window.systembus import SystemBus
from trayagent.engine import Engine
from trayagent.host.base import ExitWatch
from trayagent.host.choose import exit_watch, process_reader
from trayagent.host.clock import Clock, ClockWatch
from trayagent.host.pulse import TtyPulse
from trayagent.host.repo import Repos
from trayagent.identity.insight import Insight
from trayagent.ipc.paths import runtime_folder
from trayagent.ledger.ledger import Ledger
from trayagent.manifest.load import Library
from trayagent.model.events import Clients, Configured, Event, Frame, Panes, PulseState, Tick
from trayagent.model.panes import PaneInfo
from trayagent.model.states import RANK
from trayagent.model.view import PaneView
from trayagent.reports.options import Options as PaneOptions
from trayagent.sinks.command import Commands
from trayagent.sources.tmux.source import TmuxSource

log = logging.getLogger("trayagent")


CLOSE_SECONDS = 5.0  # for all parts to end; a login session that ends does not wait much longer


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
            self.report("choices", self.choices.problem)
        self.settings = self.choices.applied(self.config.settings)
        self.manifests = Manifests(self, state_folder(options))
        self.ledger = Ledger(
            state_folder(options) / "ledger.db", self.settings.ledger, report=self._report_from_thread
        )
        self.listeners: list[Callable[[Event], None]] = []
        self.presses: list[Callable[[int, str, str | None], bool]] = []
        self._option_reader = PaneOptions()
        self.engine = self._engine()
        self.ends = Ends(self)
        self.pump = Pump(self.engine, self.clock.now, self.ends.perform, self.clock.changes)
        self.actions = Actions(self)
        self.processes = process_reader(
            Insight(self.engine.core.index), report=lambda text: self.report("proc", text)
        )
        self._make_desktop()
        self._config_watch = ConfigWatch(self.config.path, self.configure)
        sockets = self.settings.watch.tmux.sockets
        only = str(options.only_server) if options.only_server else None
        self.relays = Relays(self)
        self.tmux = TmuxSource(self._from_source, self.clock.now, sockets=sockets, only=only)
        self.reporting = Reporting(self, options.runtime or runtime_folder())
        self.spooling = Spooling(self, options.runtime or runtime_folder())
        self.pulse: TtyPulse | None = None
        self.exits: ExitWatch | None = None
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
        self.windows = windows(self.bus)
        self.quiet = QuietWatch(self.feed, self.bus)
        self.system_bus = SystemBus(os.environ)
        self.lock = LockWatch(self.feed, self.bus, self.system_bus)
        self.launcher = Launcher(display=lambda: self.windows.display)
        self.sounds = Sounds(self)
        self.commands = Commands(self.report)
        self.sound = SoundPlayer(lambda text: self.report("sound", text))
        self.repos = Repos(self.clock.now)
        self.faces = Faces(self)

    @property
    def notifier(self) -> Notifier:
        """What shows banners now."""
        return self.faces.notifier

    @property
    def tray(self) -> Tray | None:
        """What shows the icon now, None where it is switched off."""
        return self.faces.tray

    @property
    def tooltip(self) -> str:
        """The whole in one line."""
        return self.faces.view.tooltip

    # -- life ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start every part; the icon first, for it is what a person waits for."""
        self._raise_file_limit()
        self.bus.start()
        self._tell_time()
        self._restore_choices()
        self.feed(Tick())  # what the icon looks like
        await self.faces.start()
        self.ledger.start()
        self._remember()
        self._listen()
        self.reporting.start()
        self.windows.start(self.feed)
        self.quiet.start()
        self.system_bus.start()
        self.lock.start()
        self._config_watch.start()
        await self.manifests.start()
        self.spooling.start()
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
        self.exits = exit_watch(self.feed, loop)
        self.clock_watch = ClockWatch(self.clock, self.feed, loop)
        if self.settings.watch.pulse:
            self.pulse = TtyPulse(self.feed, loop)
        else:
            self.feed(PulseState(False))

    async def close(self) -> None:
        """Stop every part, and leave everything saved."""
        self.pump.stop()
        self.reporting.close()
        self.spooling.close()
        self.remember_choices()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._close()
        except TimeoutError:
            log.warning("some parts did not end within %g s, and are left behind", CLOSE_SECONDS)
        finally:
            await asyncio.to_thread(self.ledger.close)

    async def _close(self) -> None:
        await self.ends.close()
        for part in (self.pulse, self.exits, self.clock_watch):
            if part is not None:
                part.close()
        self.relays.close()
        await self.tmux.close()
        await self.faces.close()
        await self.windows.stop()
        await self.quiet.stop()
        await self.lock.stop()
        await self.system_bus.close()
        await self.sound.stop()
        await self.commands.close()
        self._config_watch.stop()
        self.manifests.stop()
        self.processes.close()
        await self.bus.close()

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
            self.report(f"tmux {one.place}", f"{one.place}: {one.text}")

    # -- events ----------------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        """Hand an event to the engine, and to those who follow events."""
        for listener in self.listeners:
            listener(event)
        self.pump.feed(event)

    def pressed(self, alert: int, action: str, token: str | None) -> None:
        """A banner or one of its buttons was pressed: done, unless somebody else answers for it."""
        if not any(answered(alert, action, token) for answered in self.presses):
            self.actions.banner(alert, action, token)

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

    # -- what others ask -------------------------------------------------------------------

    def views(self) -> tuple[PaneView, ...]:
        """All listed panes, the loudest and longest first."""
        views = self.engine.views(self.clock.now())
        return tuple(sorted(views, key=lambda view: (RANK[view.state], view.since, view.key)))

    def remember_choices(self) -> None:
        """Keep mutes, pause and the sounds' mode over a restart."""
        problem = self.choices.save(self.engine.core.alerts.state(self.clock.wall_offset()))
        if problem:
            self.report("choices", problem)

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
            self.ends.spawn(self.faces.apply())
            self.manifests.configure()
        self.feed(self._configured())

    def _configured(self) -> Configured:
        """The settings in force, and what is wrong with the config file, by its bare name: rows are short."""
        name = self.config.path.name
        return Configured(self.settings, tuple(problem.render(name) for problem in self.config.problems))

    def _report_from_thread(self, topic: str, text: str) -> None:
        log.warning("%s: %s", topic, text)

    def report(self, topic: str, text: str) -> None:
        """Say in the log what is wrong with something, each text once until it changes."""
        if self._notes.get(topic) != text:
            self._notes[topic] = text
            log.warning("%s", text)
