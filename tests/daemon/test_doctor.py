"""`doctor` with and without a daemon: fine, or missing with its remedy; on a terminal nothing is cut."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.demo.showing import OnTerminal, run
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, wait_until


def checks(env: dict[str, str]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(run(env, "doctor", "--json").stdout)}


@pytest.mark.desktop
def test_on_a_whole_desktop_all_is_fine_before_and_while_the_daemon_runs() -> None:
    names = ("runtime folder", "tmux", "pulse", "manifests", "session bus", "tray", "notifications",
             "do not disturb", "sound", "focus", "config", "history", "log")  # fmt: skip
    with Desktop(tray="xfce4-panel", notify="dunst", sound=True) as desktop:
        before = checks(desktop.env)
        assert before["daemon"]["ok"] is False
        assert {name: before[name]["ok"] for name in names} == dict.fromkeys(names, True)
        assert "dunst" in before["notifications"]["text"] and "buttons" in before["notifications"]["text"]
        with Daemon(env=desktop.env) as daemon:
            wait_until(lambda: daemon.checks("tray")[0]["ok"], "the icon")
            wait_until(lambda: daemon.checks("focus")[0]["ok"], "the active window")
            during = checks(desktop.env)
            assert during["daemon"]["ok"] is True
            assert {name: during[name]["ok"] for name in names} == dict.fromkeys(names, True)
            desktop.stop("xfce4-panel")
            desktop.stop("dunst")
            wait_until(lambda: daemon.checks("tray")[0]["ok"] is False, "the panel to be missed at once")
            assert "Status Tray Plugin" in daemon.checks("tray")[0]["hint"]
            wait_until(lambda: daemon.checks("notifications")[0]["ok"] is False, "the server to be missed")
            assert "install dunst" in daemon.checks("notifications")[0]["hint"]


@pytest.mark.desktop
def test_what_keeps_alerts_back_is_said() -> None:
    with Desktop(notify="dunst") as desktop:
        desktop.run("dunstctl", "set-paused", "true")
        found = checks(desktop.env)
        assert found["do not disturb"]["ok"] is None
        assert "it is on (dunst)" in found["do not disturb"]["text"]


def test_switched_off_parts_bad_files_and_clashing_names_are_said(poor: dict[str, str]) -> None:
    daemon = Daemon(env=poor)
    daemon.write_config("tray: {backend: off}\nnotify: {backend: off}\nsounds: {mode: off}\nfold: 1\n")
    daemon.manifests.mkdir()
    (daemon.manifests / "bad.toml").write_text("id = 'bad'\nrules = 3\n")
    for name in ("one", "two"):
        rule = '[[rules]]\nid = "r"\nstate = "idle"\ncontains = ["x"]\n'
        (daemon.manifests / f"{name}.toml").write_text(
            f'id = "{name}"\nname = "{name}"\nversion = "1"\n[detect]\nnames = ["same"]\n{rule}'
        )
    lines = run(poor, "doctor").stdout.splitlines()
    for part in ("tray", "notifications", "sound"):
        assert any(re.search(rf"^~ +{part} +switched off", line) for line in lines), part
    assert any("config.yaml:4:1: fold" in line for line in lines)
    assert any(re.search(r"^NO +manifests .*bad\.toml", line) for line in lines)
    assert any(re.search(r"^~ +manifests .*'?same'?.*one.*two", line) for line in lines), lines


def test_on_a_terminal_lines_are_wrapped_and_no_remedy_is_cut(poor: dict[str, str]) -> None:
    with OnTerminal(poor, "doctor", columns=60) as shown:
        assert shown.ended() == 3
        assert max(map(len, shown.text.splitlines())) <= max(60, len(poor["HOME"]) + 80)
        assert "…" not in shown.text
        words = " ".join(shown.text.split())
        assert "> log in to a desktop, or set DBUS_SESSION_BUS_ADDRESS" in words
        assert "trayagent status --tmux" in words
        assert re.search(r"\d of \d+ do not work", words)
