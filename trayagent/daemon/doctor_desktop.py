"""`doctor`, the desktop's side: session bus, tray, notifications, do not disturb, lock, sound, focus.

Over ssh or on a console none of these is there, and nothing is wrong: a check says then what works
without a desktop.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trayagent.daemon.check import Check
from trayagent.desktop.bus import REMEDY as BUS_REMEDY
from trayagent.desktop.bus import BusError
from trayagent.desktop.buswatch import BUS_NAME, BUS_PATH
from trayagent.desktop.quiet.probes import NOTIFICATIONS
from trayagent.desktop.tray.host import tray_host
from trayagent.desktop.tray.sni import remedy as tray_remedy
from trayagent.remedies import install

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

IN_TERMINAL = "this works without: trayagent list --watch, trayagent status --tmux"
RECHECK = 0.02  # seconds


async def checks(parts: Parts, *, alone: bool) -> list[Check]:
    """All checks of this module. alone: no icon is shown, so only its host can be looked for."""
    return [
        _bus(parts),
        await _tray(parts, alone),
        await _notifications(parts),
        *(_held_back(parts) if parts.bus.connected else ()),
        _sound(parts),
        _focus(parts),
    ]


async def known(parts: Parts, seconds: float) -> None:
    """Wait until what has just been started knows what it is asked about here."""
    await parts.bus.wait(seconds)
    await parts.system_bus.wait(seconds)
    served = await _notification_server(parts)

    def answered() -> bool:
        focus = parts.windows.capabilities.about or parts.windows.problems()
        banners = not served or parts.notifier.capabilities.server or parts.notifier.name != "freedesktop"
        return bool(focus and banners)

    for _ in range(round(seconds / RECHECK)):
        if answered():
            return
        await asyncio.sleep(RECHECK)


def graphical(parts: Parts) -> bool:
    """Whether this is a desktop at all, as far as its variables tell."""
    return bool(parts.windows.display.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _bus(parts: Parts) -> Check:
    if parts.bus.connected:
        return Check("session bus", True, f"connected as {parts.bus.unique_name}")
    text = "; ".join(parts.bus.problems()) or "no session bus"
    remedy = BUS_REMEDY.partition(";")[0]
    return Check("session bus", False, text, remedy if graphical(parts) else f"{remedy}; {IN_TERMINAL}")


# -- what is seen --------------------------------------------------------------------------


async def _tray(parts: Parts, alone: bool) -> Check:
    if not parts.options.tray or parts.settings.tray.backend == "off":
        by = "--no-tray" if not parts.options.tray else "tray.backend in the config"
        return Check("tray", None, f"switched off ({by})")
    if not parts.bus.connected:
        return Check("tray", False, "there is no session bus to show the icon on")
    host = await tray_host(parts.bus)
    shown = host.draws if alone or parts.tray is None else parts.tray.drawn
    if shown:
        by = f" by {host.program}" if host.program else ""
        return Check("tray", True, f"an icon is drawn{by}" if alone else f"the icon is drawn{by}")
    if not graphical(parts):
        return Check("tray", False, "there is no desktop here to show an icon on", IN_TERMINAL)
    what = "knows of icons but does not draw them" if host.watched else ""
    text = f"{host.program or 'something'} {what}" if what else "no panel shows tray icons"
    return Check("tray", False, text, tray_remedy(os.environ))


async def _notification_server(parts: Parts) -> bool:
    """Whether somebody shows banners, or would be started for the first one."""
    for member in ("ListNames", "ListActivatableNames"):
        try:
            (names,) = await parts.bus.call(BUS_NAME, BUS_PATH, BUS_NAME, member)
        except BusError:
            return False
        if NOTIFICATIONS in names:
            return True
    return False


async def _notifications(parts: Parts) -> Check:
    name = "notifications"
    if parts.settings.notify.backend == "off":
        return Check(name, None, "switched off (notify.backend in the config)")
    if parts.notifier.name != "freedesktop":
        return Check(name, True, parts.notifier.name)
    if not parts.bus.connected:
        return Check(name, False, "there is no session bus to send banners on")
    if not await _notification_server(parts):
        hint = install("dunst") if graphical(parts) else IN_TERMINAL
        return Check(name, False, "no notification server is running", hint)
    problems = parts.notifier.problems()
    if problems:
        return Check(name, False, problems[0], "; ".join(problems[1:]))
    can = parts.notifier.capabilities
    if not can.server:
        return Check(name, True, "a notification server is started with the first banner")
    if not can.actions:
        return Check(name, None, f"{can.server}: it has no buttons", "go by the tray, or by `trayagent next`")
    return Check(name, True, f"{can.server}: buttons{', a list of past ones' if can.persistence else ''}")


# -- what keeps alerts back ----------------------------------------------------------------


def _held_back(parts: Parts) -> list[Check]:
    """Without a bus there are no banners to hold back, and without a server nobody to ask."""
    return [*([_disturb(parts)] if parts.notifier.capabilities.server else []), _lock(parts)]


def _disturb(parts: Parts) -> Check:
    name, source = "do not disturb", parts.quiet.source
    if parts.quiet.now.on:
        return Check(name, None, f"it is on ({source}): alerts are held until it ends")
    problems = parts.quiet.problems()
    if problems:
        return Check(name, None, problems[0], "alerts come as if it were off")
    if source:
        return Check(name, True, f"off; {source} says when it is on")
    return Check(
        name, None, "nobody here says whether it is on: alerts come always", "quiet_hours in the config"
    )


def _lock(parts: Parts) -> Check:
    if parts.lock.locked:
        return Check("lock", None, "the session is locked: alerts are held until it is not")
    witnesses = sorted({witness.partition(" ")[0] for witness in parts.lock.witnesses})
    if witnesses:
        return Check("lock", True, f"not locked; {' and '.join(witnesses)} would say so")
    return Check("lock", None, "nobody says when the screen is locked: alerts come then too")


# -- what is heard, and what is looked at --------------------------------------------------


def _sound(parts: Parts) -> Check:
    if parts.settings.sounds.mode == "off":
        return Check("sound", None, "switched off", "trayagent sounds mode audio")
    if parts.settings.sounds.mode == "bell":
        return Check("sound", True, "the terminal's bell")
    problems = parts.sound.problems()
    if problems:
        return Check("sound", False, problems[0], "trayagent sounds test")
    device = sound_device()
    players = ", ".join(parts.sound.available)
    if not device:
        text = "no sound device: neither PipeWire nor PulseAudio runs here, and ALSA has no card"
        return Check("sound", None, text, "sounds.mode: bell rings the terminal instead")
    return Check("sound", True, f"{device}; played by the first of {players} that can")


def sound_device() -> str:
    """What sound would come out of, as far as can be told without playing any; "" for nothing."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    if os.environ.get("PULSE_SERVER"):
        return f"PulseAudio at {os.environ['PULSE_SERVER']}"
    for name, socket in (("PipeWire", "pipewire-0"), ("PulseAudio", "pulse/native")):
        if (runtime / socket).is_socket():
            return name
    try:
        cards = Path("/proc/asound/cards").read_text()
    except OSError:
        return ""
    return "" if "no soundcards" in cards or not cards.strip() else "ALSA"


def _focus(parts: Parts) -> Check:
    can, problems = parts.windows.capabilities, parts.windows.problems()
    if can.active:
        return Check("focus", True, f"{can.about}: the active window is known")
    text = problems[0] if problems else can.about or "the active window is not known"
    if not graphical(parts) and problems:
        text = "there is no desktop here (DISPLAY is not set), so nobody knows what you look at"
    return Check("focus", None, text, "banners also come for panes that you are looking at")
