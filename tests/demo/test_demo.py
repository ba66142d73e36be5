"""The demo as a newcomer sees it: on a whole desktop, on poor ones, on a terminal, and ended in every way."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.demo.showing import OnTerminal, click_banner, left_of, run
from tests.support.banners import BannerMonitor
from tests.support.cut_demo import CUTS, cut, target
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, need, wait_until

TITLES = ["shop-api needs you · Claude Code", "blog has an API error · OpenCode", "mail-app is done · Codex"]
EVENTS = [
    "◆ Claude Code in shop-api asks: Do you want to make this edit to app.py?",
    "✖ OpenCode in blog broke off: Session too large",
    "✔ Codex in mail-app has finished",
]


def in_order(text: str, parts: list[str]) -> bool:
    return re.search(".*?".join(map(re.escape, parts)), text, re.DOTALL) is not None


def test_its_recordings_are_cut_from_recorded_sessions_and_small() -> None:
    for each in CUTS:
        assert target(each).read_text(encoding="utf-8") == cut(each), "run tests.support.cut_demo"
    assert {path.name for path in target(CUTS[0]).parent.iterdir()} == {target(each).name for each in CUTS}
    assert sum(target(each).stat().st_size for each in CUTS) < 300_000


@pytest.mark.tmux
@pytest.mark.desktop
def test_on_a_desktop_three_banners_come_up_and_a_running_daemon_notices_nothing() -> None:
    with (
        Desktop(tray="xfce4-panel", notify="dunst", sound=True) as desktop,
        BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard,
        Daemon(env=desktop.env) as daemon,
    ):
        done = run(desktop.env, "demo")
        assert (done.returncode, done.stderr) == (0, "")
        assert [banner.summary for banner in heard.banners] == TITLES
        assert in_order(done.stdout, EVENTS)
        assert in_order(done.stdout, [f"a banner comes up: {title}" for title in TITLES])
        assert "Your own trayagent runs on" in done.stdout
        assert "told of each one once, by a banner and a sound" in done.stdout
        assert "No sound" not in done.stdout and "!" not in done.stdout
        assert all(banner.closed for banner in heard.banners), "they are taken back"
        assert left_of(desktop.run_dir) == []
        assert not [event for event in daemon.events() if "trayagent-demo" in str(event)]
        assert not [pane for pane in daemon.list() if "trayagent-demo" in pane["dir"]]


@pytest.mark.tmux
@pytest.mark.desktop
def test_a_click_on_a_banner_opens_a_terminal_in_which_the_agent_can_be_answered() -> None:
    with Desktop(notify="dunst") as desktop:
        need("xterm")
        desktop.env["TERMINAL"] = "xterm"
        with OnTerminal(desktop.env, "demo") as shown:
            shown.wait_for("a banner comes up: shop-api")
            click_banner(desktop)
            shown.wait_for("Enter ends the demo")
            wait_until(lambda: desktop.windows("XTerm"), "a terminal")
            (window,) = desktop.windows("XTerm")
            desktop.xdotool("windowfocus", "--sync", str(window), "key", "--window", str(window), "Return")
            socket = str(next(desktop.run_dir.glob("trayagent-demo-*")) / "tmux")
            screen = ("tmux", "-S", socket, "capture-pane", "-p", "-t", "shop-api")
            wait_until(lambda: "The change is in place" in desktop.run(*screen), "Claude to go on")
            shown.type("\n")
            assert shown.ended() == 0
        wait_until(lambda: not desktop.windows("XTerm"), "the terminal to end with its tmux")


@pytest.mark.tmux
@pytest.mark.desktop
def test_a_desktop_without_tray_notifications_and_sound_is_told_what_to_do() -> None:
    with Desktop() as desktop:
        desktop.env["PULSE_SERVER"] = f"unix:{desktop.folder}/none"
        done = run(desktop.env, "demo")
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"^! no panel shows tray icons \(.*Status Tray Plugin", done.stdout, re.MULTILINE)
        assert re.search(r"^! no notification server is running \(install dunst", done.stdout, re.MULTILINE)
        assert in_order(done.stdout, EVENTS)
        assert done.stdout.count("here a banner would come up") == 3
        assert "no notification server is running" in done.stdout
        assert "No sound was heard" in done.stdout
        assert left_of(desktop.run_dir) == []


@pytest.mark.tmux
@pytest.mark.desktop
def test_what_keeps_alerts_back_is_named() -> None:
    with Desktop(notify="dunst") as desktop:
        desktop.run("dunstctl", "set-paused", "true")
        config = Path(desktop.env["XDG_CONFIG_HOME"]) / "trayagent" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text("sounds: {mode: off}\n")
        done = run(desktop.env, "demo")
        assert done.stdout.count("no banner: your desktop's do not disturb is on") == 3
        assert "Here no banner came up: your desktop's do not disturb is on." in done.stdout
        assert "sound" not in done.stdout, "it is off in the person's own config"


@pytest.mark.tmux
def test_over_ssh_the_list_is_what_there_is(poor: dict[str, str]) -> None:
    done = run(poor, "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("! ") == 1, "one thing is missing, not three"
    assert re.search(r"^! no session bus.*trayagent list --watch", done.stdout, re.MULTILINE)
    assert in_order(done.stdout, EVENTS)
    assert "trayagent status --tmux" in done.stdout
    assert left_of(Path(poor["XDG_RUNTIME_DIR"])) == []


def test_without_tmux_it_says_how_to_get_it_and_simulates(poor: dict[str, str], tmp_path: Path) -> None:
    manager = tmp_path / "dnf"
    manager.write_text("#!/bin/sh\n")
    manager.chmod(0o755)
    done = run({**poor, "PATH": str(tmp_path)}, "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^Install tmux: (sudo )?dnf install tmux$", done.stdout, re.MULTILINE)
    assert in_order(done.stdout, EVENTS)
    assert done.stdout.count("with tmux, a banner would come up now") == 3
    assert left_of(Path(poor["XDG_RUNTIME_DIR"])) == []


@pytest.mark.tmux
def test_on_a_terminal_the_list_is_live_and_enter_ends_it(poor: dict[str, str]) -> None:
    with OnTerminal(poor, "demo", columns=76) as shown:
        shown.wait_for("Enter ends the demo")
        assert left_of(Path(poor["XDG_RUNTIME_DIR"])), "until then all is there"
        shown.type("\n")
        assert shown.ended() == 0
        for state in ("● working", "◆ blocked", "✖ error", "✔ done"):
            assert re.search(rf"^  {state}  *\d+ s  ", shown.text, re.MULTILINE), state
        assert [line for line in shown.text.splitlines() if len(line) > 76] == []
        assert shown.raw.count(b"\x1b[?25l") == shown.raw.count(b"\x1b[?25h") == 1, "the cursor is back"
        assert left_of(Path(poor["XDG_RUNTIME_DIR"])) == []


@pytest.mark.tmux
@pytest.mark.parametrize("how", ["Ctrl-C", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_ended_in_any_way_it_leaves_nothing(poor: dict[str, str], how: str) -> None:
    base = Path(poor["XDG_RUNTIME_DIR"])
    with OnTerminal(poor, "demo") as shown:
        shown.wait_for("Codex works")
        assert len(left_of(base)) >= 4, "a folder, and three who play"
        if how == "Ctrl-C":
            shown.type("\x03")
        else:
            shown.signal(signal.Signals[how])
        status = shown.ended()
        wait_until(lambda: not left_of(base), f"nothing to be left after {how}: {left_of(base)}")
        if how != "SIGKILL":
            assert status == 0
            assert "Traceback" not in shown.text
            assert "nothing of it is left" in shown.text
            assert b"\x1b[?25h" in shown.raw
