"""Every setting, with its default. config/ fills these from YAML; nothing else reads YAML.

The tree's shape is the config file's: `alerts.settle.blocked` is
`Settings.alerts.settle.blocked`. Times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.states import State


@dataclass(frozen=True, slots=True)
class TmuxSettings:
    """watch.tmux: extra sockets to watch beside those that are found."""

    enabled: bool = True
    sockets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """watch: where panes come from."""

    tmux: TmuxSettings = field(default_factory=TmuxSettings)
    pulse: bool = True


@dataclass(frozen=True, slots=True)
class SettleSettings:
    """alerts.settle: how long a state must stand before it is told."""

    blocked: float = 1.0
    other: float = 2.0


@dataclass(frozen=True, slots=True)
class RateSettings:
    """alerts.rate: a fingerprint once in `same`; `pane` banners a pane, `total` in all in `window`."""

    same: float = 30.0
    pane: int = 3
    total: int = 6
    window: float = 10.0


@dataclass(frozen=True, slots=True)
class StateSwitches:
    """Which states are told; also per agent and project."""

    blocked: bool = True
    error: bool = True
    done: bool = True

    def on(self, state: State) -> bool:
        """Whether a state is told at all; states without a switch never are."""
        return bool(getattr(self, state.value, False))


@dataclass(frozen=True, slots=True)
class QuietSpan:
    """A span of quiet hours. days: 0 = Monday, the day on which the span starts.
    start and end: minutes after local midnight; equal ends switch it off."""

    start: int
    end: int
    days: frozenset[int] = frozenset(range(7))


@dataclass(frozen=True, slots=True)
class QuietSettings:
    """quiet_hours: spans of local time in which alerts are held, but for states in `allow`."""

    spans: tuple[QuietSpan, ...] = ()
    allow: frozenset[State] = frozenset()
    zone: str = ""


@dataclass(frozen=True, slots=True)
class MuteRule:
    """alerts.mute: always muted. scope: `session project agent`."""

    scope: str
    value: str


@dataclass(frozen=True, slots=True)
class RemindSettings:
    """alerts.remind: another banner for what still needs somebody. after: seconds from its banner to
    the first, 0 for none; every: to the next; times: how many at most."""

    after: float = 0.0
    every: float = 600.0
    times: int = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """alerts.profiles: what is different for projects in some folders. paths: globs over a project's path, in
    which `*` matches slashes too. states: told there, None: as everywhere. quiet: spans in place of
    the general ones. sounds: by state.
    Of several that cover a project, the first that says something about a matter counts."""

    paths: tuple[str, ...]
    states: StateSwitches | None = None
    quiet: tuple[QuietSpan, ...] | None = None
    sounds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """alerts.sinks: one further way by which alerts leave, by a name of the user's choice.

    command: program and arguments, given the alert on stdin and in its environment. states: which are
    sent. when: `always`, with each banner; or `away`, once for each alert that stands for `after` seconds
    while nobody is there. text: how much of the question is sent: `full short none`. timeout: seconds
    after which the program is ended."""

    name: str
    command: tuple[str, ...]
    states: frozenset[State] = frozenset({State.BLOCKED, State.ERROR})
    when: str = "always"
    after: float = 0.0
    text: str = "short"
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """alerts: what becomes a banner, and when."""

    enabled: bool = True
    states: StateSwitches = field(default_factory=StateSwitches)
    agents: tuple[tuple[str, StateSwitches], ...] = ()
    projects: tuple[tuple[str, StateSwitches], ...] = ()
    short_turn: float = 5.0
    settle: SettleSettings = field(default_factory=SettleSettings)
    merge: float = 3.0
    rate: RateSettings = field(default_factory=RateSettings)
    mute: tuple[MuteRule, ...] = ()
    focus_done: str = "active"
    focus_blocked: str = "visible"
    away_after: float = 300.0
    remind: RemindSettings = field(default_factory=RemindSettings)
    escalate_sound: float = 0.0
    profiles: tuple[Profile, ...] = ()
    sinks: tuple[SinkSettings, ...] = ()
    critical: frozenset[State] = frozenset()
    text: str = "full"


@dataclass(frozen=True, slots=True)
class SoundSettings:
    """sounds: mode `audio bell both off`; volume 0 to 1; files by state, then agent, then project."""

    mode: str = "audio"
    volume: float = 0.6
    gap: float = 3.0
    states: tuple[tuple[str, str], ...] = ()
    agents: tuple[tuple[str, str], ...] = ()
    projects: tuple[tuple[str, str], ...] = ()
    while_locked: bool = False


@dataclass(frozen=True, slots=True)
class TraySettings:
    """tray: backend `auto sni pystray off`; middle click; ascii menus."""

    backend: str = "auto"
    fold: int = 8
    recent: int = 10


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """notify: backend `auto freedesktop plyer off`."""

    backend: str = "auto"


@dataclass(frozen=True, slots=True)
class DetectSettings:
    """detect: judgement. stall: silence while working after which the state is unknown."""

    hold: float = 0.45
    hold_cap: float = 0.7
    stall: float = 30.0
    agents: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """manifests: foreign folders to read (`thinkterm herdr tmux-ide tuios jackin`). update_url: the index
    that `manifests update` reads where the command names none."""

    imports: tuple[str, ...] = ()
    update_url: str = ""


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """ledger: how long history is kept. keep: days."""

    keep_days: int = 90
    keep_rows: int = 100_000
    text_hours: float = 24.0


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration; the defaults are a working program."""

    watch: WatchSettings = field(default_factory=WatchSettings)
    detect: DetectSettings = field(default_factory=DetectSettings)
    manifests: ManifestSettings = field(default_factory=ManifestSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    quiet_hours: QuietSettings = field(default_factory=QuietSettings)
    sounds: SoundSettings = field(default_factory=SoundSettings)
    tray: TraySettings = field(default_factory=TraySettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
