"""How each notification server says that it shall not disturb: one row a server.

A probe is asked, and asked again when one of its signals is heard. What it raises (BusError,
OSError, TimeoutError) means that nobody knows, which counts as "not quiet".

Sources: dunst(5) and its D-Bus introspection; xfconf's interface org.xfce.Xfconf; the property Inhibited of
Plasma's notification server; GNOME's, Cinnamon's and MATE's GSettings schemas; mako(5), fr.emersion.Mako; the
interface org.erikreider.swaync.cc. dunst and Xfce were measured, the others are as documented.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from trayagent.desktop.bus import BusError, SessionBus

NOTIFICATIONS, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
PROPERTIES = "org.freedesktop.DBus.Properties"
ANSWER = 1.0  # seconds; somebody's alert is waiting

MAKO_MODES = frozenset({"do-not-disturb", "dnd"})  # modes are the user's own words; these two are the custom


@dataclass(frozen=True, slots=True)
class Ring:
    """A signal that may mean a change. wants: looks at its body."""

    interface: str
    member: str
    sender: str = ""
    path: str = ""
    arg0: str = ""
    wants: Callable[[list[Any]], bool] = lambda body: True


@dataclass(frozen=True, slots=True)
class Probe:
    """servers: names in GetServerInformation, in lower case. rings: empty where no signal tells."""

    source: str
    servers: frozenset[str]
    ask: Callable[[SessionBus], Awaitable[bool]]
    rings: tuple[Ring, ...] = ()


# -- ways of asking --------------------------------------------------------------------------


def _property(interface: str, name: str) -> Callable[[SessionBus], Awaitable[bool]]:
    """A boolean property of the notification server."""

    async def ask(bus: SessionBus) -> bool:
        (value,) = await bus.call(
            NOTIFICATIONS, PATH, PROPERTIES, "Get", "ss", [interface, name], timeout=ANSWER, autostart=False
        )
        return value.value is True

    return ask


def _gsettings(schema: str, key: str, quiet: str) -> Callable[[SessionBus], Awaitable[bool]]:
    """A key of GSettings, read with its own tool, since its store has no interface for others."""

    async def ask(bus: SessionBus) -> bool:
        reader = await asyncio.create_subprocess_exec(
            "gsettings", "get", schema, key,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(ANSWER):
                out, _ = await reader.communicate()
        finally:
            if reader.returncode is None:
                reader.kill()
                await reader.wait()
        return out.decode("ascii", "replace").strip() == quiet

    return ask


async def _xfce(bus: SessionBus) -> bool:
    """The key exists only once it has been set."""
    name, path = "org.xfce.Xfconf", "/org/xfce/Xfconf"
    try:
        (value,) = await bus.call(
            name, path, name, "GetProperty", "ss", ["xfce4-notifyd", "/do-not-disturb"], timeout=ANSWER
        )
    except BusError as error:
        if error.name == f"{name}.Error.PropertyNotFound":
            return False
        raise
    return value.value is True


async def _mako(bus: SessionBus) -> bool:
    (modes,) = await bus.call(
        NOTIFICATIONS, "/fr/emersion/Mako", "fr.emersion.Mako", "ListModes", timeout=ANSWER, autostart=False
    )
    return not MAKO_MODES.isdisjoint(modes)


async def _swaync(bus: SessionBus) -> bool:
    """Quiet by its switch, or while a program such as a screen recorder inhibits it."""
    name, path = "org.erikreider.swaync.cc", "/org/erikreider/swaync/cc"
    try:
        (data,) = await bus.call(name, path, name, "GetSubscribeData", timeout=ANSWER, autostart=False)
        return bool(data[0] or data[3])  # (dnd, centre open, count, inhibited)
    except BusError as error:
        if error.name != "org.freedesktop.DBus.Error.UnknownMethod":
            raise
    (dnd,) = await bus.call(name, path, name, "GetDnd", timeout=ANSWER, autostart=False)
    return bool(dnd)


# -- signals ---------------------------------------------------------------------------------


def _changed(interface: str, path: str = PATH) -> Ring:
    return Ring(PROPERTIES, "PropertiesChanged", NOTIFICATIONS, path, interface)


def _dconf(key: str) -> Ring:
    """dconf's broadcast (prefix, changes below it, tag) after each write."""

    def wants(body: list[Any]) -> bool:
        return len(body) == 3 and any(key.startswith(body[0] + change) for change in body[1])

    return Ring("ca.desrt.dconf.Writer", "Notify", wants=wants)


def _is_do_not_disturb(body: list[Any]) -> bool:
    return body[:2] == ["xfce4-notifyd", "/do-not-disturb"]


_XFCONF = "org.xfce.Xfconf"
_SWAYNC = "org.erikreider.swaync.cc"

PROBES = (
    Probe(
        "dunst",
        frozenset({"dunst"}),
        _property("org.dunstproject.cmd0", "paused"),
        (_changed("org.dunstproject.cmd0"),),
    ),
    Probe(
        "Xfce",
        frozenset({"xfce notify daemon"}),
        _xfce,
        (
            Ring(_XFCONF, "PropertyChanged", _XFCONF, wants=_is_do_not_disturb),
            Ring(_XFCONF, "PropertyRemoved", _XFCONF, wants=_is_do_not_disturb),
        ),
    ),
    Probe("Plasma", frozenset({"plasma"}), _property(NOTIFICATIONS, "Inhibited"), (_changed(NOTIFICATIONS),)),
    Probe(
        "GNOME",
        frozenset({"gnome-shell"}),
        _gsettings("org.gnome.desktop.notifications", "show-banners", "false"),
        (_dconf("/org/gnome/desktop/notifications/show-banners"),),
    ),
    Probe(
        "Cinnamon",
        frozenset({"cinnamon"}),
        _gsettings("org.cinnamon.desktop.notifications", "display-notifications", "false"),
        (_dconf("/org/cinnamon/desktop/notifications/display-notifications"),),
    ),
    Probe(
        "MATE",
        frozenset({"notification daemon"}),
        _gsettings("org.mate.NotificationDaemon", "do-not-disturb", "true"),
        (_dconf("/org/mate/notification-daemon/do-not-disturb"),),
    ),
    Probe("mako", frozenset({"mako"}), _mako, (_changed("fr.emersion.Mako", "/fr/emersion/Mako"),)),
    Probe(
        "swaync",
        frozenset({"swaynotificationcenter", "swaync"}),
        _swaync,
        (Ring(_SWAYNC, "SubscribeV2", _SWAYNC), Ring(_SWAYNC, "Subscribe", _SWAYNC)),
    ),
)


def probe_of(server: str) -> Probe | None:
    """The row of a notification server, by its name."""
    return next((probe for probe in PROBES if server.lower() in probe.servers), None)
