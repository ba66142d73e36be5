"""A private headless desktop: X server, session bus, window manager; on request a panel with a tray,
a notification daemon, and a sound server that plays into nothing.

    with Desktop(tray="xfce4-panel", notify="dunst") as desktop:
        subprocess.run([...], env=desktop.env)
        desktop.click(1260, 16)
        desktop.screenshot(Path("panel.png"))

Each desktop has a folder of its own for HOME, XDG_RUNTIME_DIR, configuration and tmux sockets, a display
number that the X server chose, and a bus that can launch nothing but what is named here (the stock bus
would launch a notification daemon that a test has just taken away). It is up within a second. `close`
ends only what was started with this desktop's folder in its environment.

Packages (Debian): xvfb dbus openbox xdotool imagemagick fonts-dejavu-core adwaita-icon-theme; xfce4-panel;
dunst or xfce4-notifyd; pulseaudio. What a desktop asks for and the machine lacks skips the test in one line.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest
from Xlib import X, display
from Xlib.error import XError

DEADLINE = 15.0  # for anything to come up; generous, since machines that test are busy
WATCHER = "org.kde.StatusNotifierWatcher"
NOTIFICATIONS = "org.freedesktop.Notifications"

_NOTIFYD = next(map(str, Path("/usr/lib").glob("*/xfce4/notifyd/xfce4-notifyd")), "xfce4-notifyd")
_NOTIFIERS = {"dunst": "dunst", "xfce4-notifyd": _NOTIFYD}
_PULSE = [
    "pulseaudio",
    "-n",
    "--daemonize=no",
    "--use-pid-file=no",
    "--exit-idle-time=-1",
    "--disallow-exit",
    "--log-target=stderr",
    "--load=module-native-protocol-unix",
]

_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={run}/bus</listen><auth>EXTERNAL</auth>
<servicedir>{services}</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""

_PANEL = """<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="{dark}"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="{size}"/>
      <property name="icon-size" type="uint" value="0"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/><value type="int" value="2"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/></property>
    <property name="plugin-2" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
      <property name="known-items" type="array"><value type="string" value="trayagent"/></property></property>
  </property>
</channel>
"""


def need(*programs: str) -> None:
    """Skip the running test, in one line, if one of these programs is missing."""
    if lacking := [name for name in programs if shutil.which(name) is None]:
        pytest.skip(f"the test desktop lacks {', '.join(lacking)}: run tests/run.sh as root once")


def wait_until(done: Callable[[], object], what: str, timeout: float = DEADLINE) -> None:
    """Ask `done` again and again until it answers true; TimeoutError names `what`."""
    end = time.monotonic() + timeout
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(0.01)


def _listens(path: Path) -> bool:
    """Whether somebody takes connections at a socket; its file is there a moment before."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


class Desktop:
    """One headless desktop. tray: `none xfce4-panel`; notify: `none dunst xfce4-notifyd`.

    screen False: a session bus only, without X, which takes 20 ms. panel_size: height of the panel in pixels.
    dark: dark panel. env: for programs that shall run on it."""

    def __init__(
        self,
        *,
        tray: str = "none",
        notify: str = "none",
        sound: bool = False,
        screen: bool = True,
        size: str = "1280x800",
        panel_size: int = 32,
        dark: bool = False,
    ) -> None:
        need("dbus-daemon", "dbus-send", *(("Xvfb", "openbox", "xdotool") if screen else ()))
        self.size = size
        self._screen = screen
        self._tray, self._notify, self._sound = tray, notify, sound
        self._panel = _PANEL.format(size=panel_size, dark=str(dark).lower())
        # Not below pytest's own folders: a socket's path must be shorter than 108 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="desk-"))
        self.run_dir = self.folder / "run"
        self.home = self.folder / "home"
        self.programs: dict[str, subprocess.Popen[bytes]] = {}
        self._x: display.Display | None = None
        self.env = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.run_dir),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_CURRENT_DESKTOP": "XFCE",
            "TMUX_TMPDIR": str(self.folder / "tmux"),
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.run_dir}/bus",
            "NO_AT_BRIDGE": "1",
            "GTK_A11Y": "none",
            "GSETTINGS_BACKEND": "memory",
            "TERM": "xterm-256color",
        }

    # -- life ------------------------------------------------------------------------------

    def __enter__(self) -> Desktop:
        try:
            self._prepare()
            self.start_bus(wait=False)
            if self._screen:
                self.start_x()
            self._wait_for_bus()
            if self._screen:
                self.start_openbox()
            if self._sound:
                self.start_sound()
            if self._notify != "none":
                self.start_notifier(self._notify)
            if self._tray != "none":
                self.start_panel()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything that this desktop started, and remove its folder."""
        if self._x is not None:
            self._x.close()
            self._x = None
        for name in reversed(list(self.programs)):
            self.stop(name)
        for pid in self._launched():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _prepare(self) -> None:
        self.run_dir.mkdir(mode=0o700)
        channel = self.home / ".config/xfce4/xfconf/xfce-perchannel-xml"
        for folder in (channel, self.folder / "tmux", self.folder / "log", self.folder / "services"):
            folder.mkdir(parents=True, mode=0o700)
        (channel / "xfce4-panel.xml").write_text(self._panel)
        service = Path("/usr/share/dbus-1/services/org.xfce.Xfconf.service")
        if service.exists():
            shutil.copy(service, self.folder / "services")

    def _launched(self) -> list[int]:
        """Processes that still carry our folder in their environment (those that the bus launched)."""
        mark = f"XDG_RUNTIME_DIR={self.run_dir}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0") and int(entry.name) != os.getpid():
                    found.append(int(entry.name))
            except OSError:
                continue  # it ended meanwhile, or is not ours to read
        return found

    # -- programs --------------------------------------------------------------------------

    def spawn(self, name: str, *argv: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a program on this desktop, in a process group of its own; its output goes to `log(name)`."""
        with (self.folder / "log" / name).open("ab") as out:
            process = subprocess.Popen(
                argv,
                env=self.env | (env or {}),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                cwd=self.folder,
            )
        self.programs[name] = process
        return process

    def stop(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End a program that `spawn` started, and its group; waits until it is gone."""
        process = self.programs.pop(name, None)
        if process is None:
            return
        for sign in (how, signal.SIGKILL):
            try:
                os.killpg(process.pid, sign)
            except ProcessLookupError:
                break
            try:
                process.wait(3.0)
                break
            except subprocess.TimeoutExpired:
                continue
        process.wait(3.0)

    def log(self, name: str) -> str:
        """What a spawned program has written so far."""
        return (self.folder / "log" / name).read_text(errors="replace")

    def run(self, *argv: str, timeout: float = 10.0) -> str:
        """Run a program to its end and return its output; CalledProcessError if it fails."""
        return subprocess.run(
            argv, env=self.env, check=True, capture_output=True, text=True, timeout=timeout, cwd=self.folder
        ).stdout

    def start_bus(self, wait: bool = True) -> None:
        """(Re)start the session bus at the same address; `stop("dbus")` takes it away."""
        (self.run_dir / "bus").unlink(missing_ok=True)
        config = self.folder / "bus.conf"
        config.write_text(_BUS.format(run=self.run_dir, services=self.folder / "services"))
        self.spawn("dbus", "dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile", "--nosyslog")
        if wait:
            self._wait_for_bus()

    def _wait_for_bus(self) -> None:
        wait_until(lambda: _listens(self.run_dir / "bus"), "the session bus")

    def start_x(self) -> None:
        """(Re)start the X server, on whatever display is free; `stop("xvfb")` takes it away."""
        reader, writer = os.pipe()
        try:
            log = (self.folder / "log" / "xvfb").open("ab")
            with log:
                argv = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{self.size}x24"]
                argv += ["-nolisten", "tcp", "-noreset", "+extension", "RANDR"]
                self.programs["xvfb"] = subprocess.Popen(
                    argv, env=self.env, pass_fds=(writer,), stdout=log, stderr=log, start_new_session=True
                )
        finally:
            os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            number = answer.readline().decode().strip()
        if not number:
            raise RuntimeError(f"Xvfb did not start: {self.log('xvfb')}")
        self.env["DISPLAY"] = f":{number}"

    def start_openbox(self) -> None:
        """Start the window manager, and paint the root window."""
        self.spawn("openbox", "openbox", "--sm-disable")
        root = self.x.screen().root
        check = self.x.intern_atom("_NET_SUPPORTING_WM_CHECK")
        wait_until(lambda: root.get_full_property(check, X.AnyPropertyType), "openbox")
        root.change_attributes(background_pixel=0x335577)
        root.clear_area()
        self.x.sync()

    def start_panel(self) -> None:
        """Start xfce4-panel with a tray; returns once its watcher is on the bus."""
        need("xfce4-panel")
        self.spawn("xfce4-panel", "xfce4-panel", "--disable-wm-check", "--sm-client-disable")
        wait_until(lambda: self.owner(WATCHER), "the tray of xfce4-panel")

    def start_notifier(self, name: str) -> None:
        """Start a notification daemon with its stock configuration; `stop(name)` takes it away.

        dunst's own bindings: the middle button runs the default action, the left one closes."""
        need(_NOTIFIERS[name])
        self.spawn(name, _NOTIFIERS[name])
        wait_until(lambda: self.owner(NOTIFICATIONS), name)

    def start_sound(self) -> None:
        """Start a pulseaudio whose only device is a null sink, `nowhere`."""
        need("pulseaudio")
        self.spawn("pulseaudio", *_PULSE, "--load=module-null-sink sink_name=nowhere rate=44100")
        wait_until((self.run_dir / "pulse/native").exists, "pulseaudio")

    def owner(self, name: str) -> str:
        """The unique bus name that owns `name`, "" for nobody."""
        argv = ["dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/"]
        argv += ["org.freedesktop.DBus.GetNameOwner", f"string:{name}"]
        answer = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=10)
        return answer.stdout.strip() if answer.returncode == 0 else ""

    # -- eyes and hands --------------------------------------------------------------------

    def forget_x(self) -> None:
        """Let go of this process's connection to an X server that has gone."""
        self._x = None

    @property
    def x(self) -> display.Display:
        """A connection to the X server, for this process."""
        if self._x is None:
            self._x = display.Display(self.env["DISPLAY"])
        return self._x

    def xdotool(self, *args: str) -> str:
        """Run xdotool."""
        return self.run("xdotool", *args).strip()

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Move the pointer there and click (1 left, 2 middle, 3 right)."""
        self.xdotool("mousemove", str(x), str(y), "click", str(button))

    def key(self, *keys: str) -> None:
        """Press keys in xdotool's notation (`Escape`, `ctrl+c`), one after the other."""
        self.xdotool("key", *keys)

    def windows(self, name: str) -> list[int]:
        """Visible windows whose name or class matches a regular expression."""
        answer = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "--class", name],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=10,
        )
        return [int(line) for line in answer.stdout.split()]

    def popups(self) -> list[tuple[int, int, int, int, int]]:
        """Visible windows without a frame (menus, tooltips, banners): id, x, y, width, height."""
        found = []
        for window in self.x.screen().root.query_tree().children:
            try:
                attributes, place = window.get_attributes(), window.get_geometry()
            except XError:
                continue  # it went away meanwhile
            if attributes.override_redirect and attributes.map_state == X.IsViewable and place.width > 1:
                found.append((window.id, place.x, place.y, place.width, place.height))
        return found

    def pixels(self, x: int, y: int, width: int, height: int) -> list[tuple[int, int, int]]:
        """The colours (red, green, blue) of a rectangle of the screen, row by row."""
        image = self.x.screen().root.get_image(x, y, width, height, X.ZPixmap, 0xFFFFFFFF)
        data = image.data
        return [(data[i + 2], data[i + 1], data[i]) for i in range(0, len(data), 4)]

    def screenshot(self, path: Path, crop: str = "") -> None:
        """Write the screen, or a part of it (`400x300+880+0`), as PNG; for people to look at."""
        need("import")
        self.run("import", "-window", "root", *(["-crop", crop, "+repage"] if crop else []), str(path))
