"""The process as a whole: one instance, a log of its own, and a login session that comes and goes."""

from __future__ import annotations

import errno
import os
import pty
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.login import LoginSession
from tests.e2e.stage import Stage, asking
from tests.support.banners import BannerMonitor
from tests.support.daemon import ROOT, Daemon
from tests.support.desktop import Desktop, wait_until
from tests.support.tmux import TmuxServer


@pytest.fixture
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with TmuxServer("process") as server:
        yield Stage(server, tmp_path_factory.mktemp("stage"))


def item(desktop: Desktop, daemon: Daemon) -> str:
    """The bus connection that has the daemon's tray item, "" for none."""
    return desktop.owner(f"org.kde.StatusNotifierItem-{daemon.pid}-1")


def drawn(daemon: Daemon) -> bool:
    return daemon.checks("tray")[0]["ok"] is True


# -- one of it -----------------------------------------------------------------------------


def test_a_second_start_shows_the_first_ones_status_and_ends() -> None:
    with Daemon() as daemon:
        second = daemon.cli(timeout=20)
        assert second.returncode == 0
        assert "is running already" in second.stdout
        assert f"pid {daemon.pid}" in second.stdout
        assert daemon.alive


def test_the_open_file_limit_is_raised_as_far_as_allowed() -> None:
    with Daemon() as daemon:
        line = next(
            line
            for line in Path(f"/proc/{daemon.pid}/limits").read_text().splitlines()
            if "open files" in line
        )
        soft, hard = line.split()[3:5]
        assert soft == hard


# -- what it writes ------------------------------------------------------------------------


def test_the_log_is_for_its_owner_alone_also_where_an_older_one_was_not() -> None:
    daemon = Daemon()
    file = daemon.state_folder / "trayagent.log"
    file.parent.mkdir(parents=True)
    file.write_text("from before\n")
    file.chmod(0o644)
    with daemon:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        daemon.stop()
        text = file.read_text()
        assert text.startswith("from before\n") and "stopped: SIGTERM" in text
        daemon.start()


def test_a_terminal_that_is_closed_ends_it_with_everything_saved() -> None:
    daemon = Daemon()  # for its surroundings
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "import os,sys; os.setsid(); os.open(os.ttyname(0), os.O_RDWR); "
         "os.execv(sys.executable, [sys.executable, '-m', 'trayagent'])"],
        env=daemon.env, cwd=daemon.env["HOME"], stdin=slave, stdout=slave, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    heard = threading.Thread(target=_until_watching, args=(master,))
    heard.start()
    heard.join(30)
    assert not heard.is_alive(), "its live line"
    assert daemon.cli("mute", "--agent", "codex").returncode == 0
    os.close(master)  # the kernel sends SIGHUP, and stderr is gone
    assert process.wait(30) == 0
    log = (daemon.state_folder / "trayagent.log").read_text()
    assert "stopped: SIGHUP" in log
    assert "Traceback" not in log
    with daemon:
        assert "codex" in (daemon.state_folder / "choices.json").read_text()


def _until_watching(master: int) -> None:
    seen = b""
    while b"watching" not in seen:
        seen += os.read(master, 4096)


# -- the login session around it -----------------------------------------------------------


@pytest.mark.desktop
@pytest.mark.tmux
def test_a_session_bus_and_a_display_that_go_and_come_again_are_found_anew(stage: Stage) -> None:
    pane = stage.play("claude", "api", asking("claude/edit"))
    only = ["--only-server", str(stage.server.socket)]
    with (
        Desktop(tray="xfce4-panel", notify="dunst") as desktop,
        Daemon(env=desktop.env, args=only) as daemon,
    ):
        daemon.wait_for(lambda: drawn(daemon), "the icon")
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent")
        for name in ("xfce4-panel", "dunst", "dbus", "openbox", "xvfb"):
            desktop.stop(name)
        desktop.forget_x()
        daemon.wait_for(lambda: not daemon.checks("focus")[0]["ok"], "the display to be missed")
        daemon.wait_for(lambda: not daemon.checks("session bus")[0]["ok"], "the bus to be missed")
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "watching goes on without a desktop")
        desktop.start_bus()
        with BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard:
            desktop.start_x()  # on another display
            with LoginSession(desktop.env["DBUS_SESSION_BUS_ADDRESS"], DISPLAY=desktop.env["DISPLAY"]):
                desktop.start_openbox()
                desktop.start_panel()
                desktop.start_notifier("dunst")
                daemon.wait_for(lambda: drawn(daemon), "the icon in the new session", 60)
                daemon.wait_for(lambda: daemon.checks("focus")[0]["ok"], "the new display", 60)
            assert daemon.cli("test-alert").returncode == 0
            wait_until(lambda: any("a test" in banner.summary for banner in heard.banners), "a banner")
        assert daemon.alive


@pytest.mark.desktop
def test_started_inside_an_old_tmux_it_finds_the_login_sessions_bus_and_display() -> None:
    old: dict[str, str | None] = {
        "DISPLAY": None,
        "DBUS_SESSION_BUS_ADDRESS": None,
        "TMUX": "/tmp/tmux-1000/default,1,0",
        "TMUX_PANE": "%0",
    }
    with (
        Desktop(tray="xfce4-panel", notify="dunst") as desktop,
        LoginSession(desktop.env["DBUS_SESSION_BUS_ADDRESS"], DISPLAY=desktop.env["DISPLAY"]),
        Daemon(env=desktop.env, environ=old) as daemon,
    ):
        daemon.wait_for(lambda: drawn(daemon), "the icon")
        daemon.wait_for(lambda: daemon.checks("focus")[0]["ok"], "the display")
        assert f"the login session is on display {desktop.env['DISPLAY']}" in daemon.log


# -- settings that change a part -----------------------------------------------------------


@pytest.mark.desktop
def test_backends_of_tray_and_notifications_are_changed_while_it_runs() -> None:
    with (
        Desktop(tray="xfce4-panel", notify="dunst") as desktop,
        BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard,
        Daemon(env=desktop.env) as daemon,
    ):
        daemon.wait_for(lambda: drawn(daemon), "the icon")
        daemon.write_config("tray: {backend: off}\nnotify: {backend: off}\n")
        daemon.wait_for(lambda: not item(desktop, daemon), "the icon to go")
        daemon.wait_for(lambda: "switched off" in daemon.checks("notifications")[0]["text"], "no banners")
        assert daemon.cli("test-alert").returncode == 0
        daemon.write_config("")
        daemon.wait_for(lambda: drawn(daemon), "the icon again")
        daemon.wait_for(lambda: daemon.checks("notifications")[0]["ok"], "banners again")
        assert heard.banners == [], "none while they were off"
        assert daemon.cli("test-alert").returncode == 0
        wait_until(lambda: len(heard.banners) == 1, "the one since")


@pytest.mark.desktop
def test_a_test_alert_comes_when_it_was_asked_for_also_while_alerts_are_paused() -> None:
    with (
        Desktop(notify="dunst", sound=True) as desktop,
        BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard,
        Daemon(env=desktop.env) as daemon,
    ):
        daemon.cli("pause", "1h")
        said = daemon.cli("test-alert", "--delay", "1.5", "--state", "error").stdout
        assert "in 1.5 s" in said
        assert heard.banners == []
        wait_until(lambda: heard.banners, "the banner")
        assert "test" in heard.banners[0].summary
        wait_until(lambda: daemon.ask("status")["problems"] == [], "no problem with banner and sound")
        assert daemon.history() == [], "nothing that happened to a pane"


# -- the start -----------------------------------------------------------------------------


# Loaded by the daemon's Python at start: reading the manifests waits for a writer at the pipe.
SLOW_DISK = """
import os
from trayagent.manifest.load import Library
read = Library.reload
def reload(self):
    if self._folders:
        open(os.environ["SLOW_DISK"]).close()
    read(self)
Library.reload = reload
"""


def waits_at(pipe: Path) -> bool:
    """Whether somebody waits for a writer at the pipe; then he waits no longer."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        assert error.errno == errno.ENXIO  # nobody yet (open(2))
        return False
    return True


@pytest.mark.desktop
@pytest.mark.tmux
def test_the_icon_waits_for_no_manifest(stage: Stage, tmp_path: Path) -> None:
    pane = stage.play("claude", "api", asking("claude/edit"))
    only = ["--only-server", str(stage.server.socket)]
    (tmp_path / "sitecustomize.py").write_text(SLOW_DISK)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    environ = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "SLOW_DISK": str(pipe)}
    with (
        Desktop(tray="xfce4-panel", notify="dunst") as desktop,
        Daemon(env=desktop.env, args=only, environ=environ) as daemon,
    ):
        daemon.wait_for(lambda: item(desktop, daemon), "the icon")
        assert daemon.list() == []
        wait_until(lambda: waits_at(pipe), "the manifests' reader waits at the slow disk")
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent, once all are read")


def test_it_runs_from_any_folder(tmp_path: Path) -> None:
    """`python -m` puts the working folder first: no file in it may come before our modules."""
    (tmp_path / "asyncio.py").write_text("raise SystemExit(7)\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "trayagent", "version"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 0
