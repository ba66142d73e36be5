"""What is heard of an alert: recorded from the monitor of a null sink, and from a terminal."""

from __future__ import annotations

import array
import os
import subprocess
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, asking
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, need, wait_until
from tests.support.terminal import Terminal
from trayagent.resources import folder

pytestmark = [pytest.mark.desktop, pytest.mark.tmux]

RATE = 44100
QUIET = 60  # of 32768: below it is silence
AFTER = 4.0  # seconds: longer than settling, a player's start and the longest sound
VOLUME = 0.5


class Microphone:
    """Records the null sink into a file."""

    def __init__(self, desktop: Desktop) -> None:
        need("parec")
        self.file = desktop.folder / "recording"
        desktop.spawn(
            "parec", "sh", "-c",
            f"exec parec -d nowhere.monitor --format=s16le --rate={RATE} --channels=1 > {self.file}",
        )  # fmt: skip
        wait_until(lambda: self.file.exists() and self.file.stat().st_size > 0, "the recording to begin")

    @contextmanager
    def listening(self) -> Iterator[list[list[int]]]:
        """What is heard within the block and AFTER seconds more is in the list afterwards, sound by sound."""
        start = self.file.stat().st_size
        heard: list[list[int]] = []
        yield heard
        end = self.file.stat().st_size + int(AFTER * RATE * 2)
        wait_until(lambda: self.file.stat().st_size >= end, "the recording to go on", AFTER * 4)
        data = self.file.read_bytes()[start:]
        heard += _sounds(array.array("h", data[: len(data) // 2 * 2]).tolist())


def _sounds(samples: list[int]) -> list[list[int]]:
    """The parts between silences of half a second."""
    found: list[list[int]] = []
    last = -RATE
    for at, sample in enumerate(samples):
        if abs(sample) > QUIET:
            if at - last > RATE // 2:
                found.append([at, at])
            found[-1][1] = last = at
    return [samples[start : end + 1] for start, end in found]


def clip(path: Path, volume: float) -> list[int]:
    """A file as it should be heard."""
    with wave.open(str(path), "rb") as file:
        (whole,) = _sounds([int(v * volume) for v in array.array("h", file.readframes(file.getnframes()))])
    return whole


def same(heard: list[int], wanted: list[int]) -> bool:
    """As long (to 5 ms) and alike in each sample (to 1 %)."""
    alike = (abs(a - b) < 330 for a, b in zip(heard, wanted, strict=False))
    return abs(len(heard) - len(wanted)) < RATE // 200 and all(alike)


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    with Desktop(notify="dunst", sound=True) as desktop:
        yield desktop


def bundled(name: str) -> list[int]:
    return clip(folder("sounds") / f"{name}.wav", VOLUME)


def test_an_alert_is_heard_by_its_own_sound_at_its_volume_and_not_when_it_is_held(
    desktop: Desktop, stage: Stage, only: list[str]
) -> None:
    need("pulseaudio")
    pane = stage.play("claude", "shop-api", asking("claude/edit"))
    with Daemon(env=desktop.env, args=only, config=f"sounds: {{volume: {VOLUME}}}\n") as daemon:
        microphone = Microphone(desktop)
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent")

        def told(outcome: str, reason: str) -> bool:
            return any(
                (one["outcome"], one["held_by"]) == (outcome, reason)
                for one in daemon.history(state="blocked")
            )

        assert daemon.cli("pause").returncode == 0
        with microphone.listening() as heard:
            stage.press(pane)
            daemon.wait_for(lambda: told("held", "paused"), "the question, held")
        assert heard == [], "a pause is silent"
        with microphone.listening() as heard:
            assert daemon.cli("unpause").returncode == 0
            daemon.wait_for(lambda: told("delivered", ""), "the banner after the pause")
        assert len(heard) == 1 and same(heard[0], bundled("blocked"))


def test_test_alerts_go_by_the_mode_and_by_the_tables(
    desktop: Desktop, only: list[str], tmp_path: Path
) -> None:
    need("pulseaudio", "sox")
    own = tmp_path / "own.wav"
    subprocess.run(
        ["sox", "-n", "-r", str(RATE), "-b", "16", str(own), "synth", "0.3", "sine", "500"], check=True
    )
    config = f"sounds: {{volume: {VOLUME}, states: {{error: {own}, done: off}}}}\n"
    with Daemon(env=desktop.env, args=only, config=config) as daemon:
        microphone = Microphone(desktop)

        def alert(state: str) -> list[list[int]]:
            with microphone.listening() as heard:
                assert daemon.cli("test-alert", "--state", state).returncode == 0
            return heard

        (error,) = alert("error")
        assert abs(len(error) - 0.3 * RATE) < RATE / 100
        assert alert("done") == []
        assert daemon.cli("sounds", "mode", "off").returncode == 0
        assert alert("blocked") == []
        with microphone.listening() as heard:
            done = daemon.cli("sounds", "test", "--volume", "25%")
        assert done.returncode == 0 and "alerts are silent" in done.stdout, done.stdout + done.stderr
        assert len(heard) == 1 and same(heard[0], clip(folder("sounds") / "blocked.wav", 0.25))
        assert daemon.cli("sounds", "test", "done").returncode == 1
        sounds = {row["name"]: row["file"] for row in daemon.json("sounds", "list")["sounds"]}
        assert sounds["done"] is None and sounds["error"] == str(own)


def test_the_bell_rings_in_the_terminal_that_was_used_last_and_only_there(
    desktop: Desktop, stage: Stage, only: list[str]
) -> None:
    stage.server.new_session("home")
    attach = ["tmux", "-u", "-S", str(stage.server.socket), "attach", "-t", "=home"]
    env = {"TERM": "xterm", "TMUX_TMPDIR": str(stage.server.folder)}
    terminals = [Terminal(*attach, env=env) for _ in range(2)]
    try:
        stage.server.wait(lambda: len(stage.server.tmux("list-clients").splitlines()) == 2, "two clients")
        used, other = terminals
        _use(stage, used)
        with Daemon(env=desktop.env, args=only, config="sounds: {mode: bell}\n") as daemon:
            daemon.wait_for(
                lambda: used.tty in daemon.cli("sounds", "test").stdout, "the clients to be known"
            )
            rung, silent = (terminal.output.count(b"\a") for terminal in terminals)
            assert daemon.cli("test-alert").returncode == 0
            wait_until(lambda: used.output.count(b"\a") > rung, "the bell")
            assert other.output.count(b"\a") == silent
    finally:
        for terminal in terminals:
            terminal.close()


def _use(stage: Stage, terminal: Terminal) -> None:
    """Type into a terminal until its client is the one used last (tmux counts in seconds)."""

    def newest() -> bool:
        os.write(terminal.master, b"x")
        time.sleep(0.1)
        rows = stage.server.tmux("list-clients", "-F", "#{client_activity} #{client_tty}").splitlines()
        times = sorted(row.split() for row in rows)
        return times[-1][1] == terminal.tty and times[-1][0] > times[-2][0]

    stage.server.wait(newest, "the terminal to be the one used last")
