"""`autostart`: the file that desktops read, switched on, off, by others, and started for real."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result
from trayagent.cli import autostart

Run = Callable[..., Result]


@pytest.fixture
def file(home: Path) -> Path:
    return home / "config" / "autostart" / "trayagent.desktop"


def test_it_is_installed_seen_and_removed(run: Run, file: Path) -> None:
    assert (run("autostart", "status").code, file.exists()) == (1, False)
    assert str(file) in run("autostart", "install").out
    assert run("autostart", "install").code == 0, "twice is fine"
    assert json.loads(run("autostart", "status", "--json").out) == {
        "on": True, "state": "on", "path": str(file),
    }  # fmt: skip
    assert "any more" in run("autostart", "uninstall").out
    assert not file.exists()
    assert "nothing was changed" in run("autostart", "uninstall").out


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false"])
def test_what_a_desktop_switched_off_is_seen_and_can_be_switched_on(run: Run, file: Path, line: str) -> None:
    run("autostart", "install")
    text = file.read_text().replace("X-GNOME-Autostart-enabled=true", line)
    file.write_text(text)
    status = run("autostart", "status")
    assert (status.code, "switched off" in status.out) == (1, True)
    run("autostart", "install")
    assert run("autostart", "status").code == 0


def test_another_programs_entry_is_told_apart(run: Run, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[Desktop Entry]\nType=Application\nName=trayagent\nExec=/gone/trayagent\n")
    assert json.loads(run("autostart", "status", "--json").out)["state"] == "other"


def test_a_desktop_that_reads_no_such_file_is_told_its_own_way(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "sway")
    out = run("autostart", "install").out
    assert f"exec {autostart.exec_line()}" in out
    assert ".config/sway/config" in out


@pytest.mark.skipif(shutil.which("gio") is None, reason="gio (libglib2.0-bin) starts desktop entries")
def test_a_path_with_all_that_is_reserved_is_started_as_it_is(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / 'a b$HOME`c`"d"\\e;g\'h'
    odd.mkdir()
    program = odd / "trayagent"
    program.write_text(f'#!/bin/sh\necho "started $#" > "{tmp_path}/started"\n')
    program.chmod(0o755)
    monkeypatch.setattr(autostart, "_command", lambda: [str(program)])
    assert run("autostart", "install").code == 0
    subprocess.run(["gio", "launch", str(file)], check=True, timeout=30)
    assert (tmp_path / "started").read_text() == "started 0\n"
