"""Sounds through real and through faulty players; what is heard is recorded from a null sink."""

from __future__ import annotations

import array
import asyncio
import os
import subprocess
import sys
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.ears import eventually
from tests.support.desktop import Desktop, need, wait_until
from trayagent.desktop.sound import play, players
from trayagent.desktop.sound.play import SoundPlayer
from trayagent.resources import folder

pytestmark = pytest.mark.desktop

SOUNDS = folder("sounds")
ROWS = {player.name: player for player in players.PLAYERS}


@pytest.fixture(scope="module")
def bench() -> Iterator[Desktop]:
    with Desktop(sound=True) as desktop:
        yield desktop


@pytest.fixture
def heard(bench: Desktop, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    """Our players run on the bench."""
    for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, bench.env[name])
    monkeypatch.delenv("PULSE_SERVER", raising=False)
    return bench


class Recorder:
    """What the null sink gets, as mono samples. It records all along: a recorder that has just been started
    misses what comes first, and one that is told to be quick loses pieces."""

    def __init__(self, desktop: Desktop) -> None:
        need("parec")
        self.file = desktop.folder / "recording"
        argv = ["parec", "-d", "nowhere.monitor", "--format=s16le", "--rate=44100", "--channels=1"]
        with self.file.open("wb") as out:
            self.process = subprocess.Popen(argv, env=desktop.env, stdout=out)
        wait_until(self.now, "the recording")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

    def now(self) -> int:
        """A mark at the end of the recording."""
        return self.file.stat().st_size // 2 * 2

    def since(self, mark: int) -> list[int]:
        data = self.file.read_bytes()[mark:]
        return array.array("h", data[: len(data) // 2 * 2]).tolist()

    async def whole(self, mark: int) -> list[int]:
        """All since the mark, once a second of silence has followed a sound."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            values = self.since(mark)
            if any(values) and not any(values[-44100:]):
                return values
            await asyncio.sleep(0.2)
        return self.since(mark)


@pytest.fixture(scope="module")
def recorder(bench: Desktop) -> Iterator[Recorder]:
    recorder = Recorder(bench)
    yield recorder
    recorder.close()


def wanted(name: str, volume: float) -> list[int]:
    with wave.open(str(SOUNDS / f"{name}.wav"), "rb") as file:
        return [int(v * volume) for v in array.array("h", file.readframes(file.getnframes()))]


def trimmed(values: list[int], threshold: int = 60) -> list[int]:
    loud = [i for i, value in enumerate(values) if abs(value) > threshold]
    return values[loud[0] : loud[-1] + 1] if loud else []


def same(got: list[int], expected: list[int]) -> bool:
    """The recording is the clip at this volume: as long (to 5 ms), and alike in each sample (to 1 %)."""
    got, expected = trimmed(got), trimmed(expected)
    if abs(len(got) - len(expected)) > 220:
        return False
    return max(abs(a - b) for a, b in zip(got, expected, strict=False)) < 330


@pytest.mark.parametrize(
    ("player", "clip", "volume"),
    [
        ("miniaudio", "blocked", 1.0),
        ("miniaudio", "done", 0.5),
        ("paplay", "error", 0.5),
        ("aplay", "done", 0.5),
    ],
)
async def test_a_clip_is_heard_whole_and_at_its_volume(heard, recorder, player, clip, volume) -> None:
    said: list[str] = []
    sounds = SoundPlayer(said.append, [ROWS[player]])
    need(*([ROWS[player].program] if ROWS[player].program else []))
    mark = recorder.now()
    assert sounds.play(SOUNDS / f"{clip}.wav", volume)
    await sounds.wait()
    got = await recorder.whole(mark)
    assert said == []
    assert same(got, wanted(clip, volume))
    assert not any(same(got, wanted(other, volume)) for other in {"blocked", "done", "error"} - {clip})


async def test_ogg_is_decoded(heard: Desktop, recorder: Recorder, tmp_path: Path) -> None:
    need("sox")
    ogg = tmp_path / "blocked.ogg"
    subprocess.run(["sox", str(SOUNDS / "blocked.wav"), str(ogg)], check=True)  # noqa: ASYNC221
    sounds = SoundPlayer(pytest.fail, [ROWS["miniaudio"]])
    mark = recorder.now()
    sounds.play(ogg, 1.0)
    await sounds.wait()
    got = trimmed(await recorder.whole(mark))
    assert abs(len(got) - len(trimmed(wanted("blocked", 1.0)))) < 4410
    assert max(got) > 10_000


# -- what can go wrong -----------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, but for the shell's own tools."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "sleep", "cat", "mv"):
        (tools / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    return tools


def tool(tools: Path, name: str, script: str) -> None:
    (tools / name).write_text(f"#!/bin/sh\n{script}\n")
    (tools / name).chmod(0o700)


OTHERS = [ROWS["pw-play"], ROWS["paplay"], ROWS["aplay"]]


async def test_players_are_called_with_the_role_of_notifications(tools: Path, tmp_path: Path) -> None:
    tool(tools, "pw-play", 'echo "$0 $*" >>"$NOTES"; exit 1')
    tool(tools, "paplay", 'echo "$0 $*" >>"$NOTES"')
    sounds = SoundPlayer(pytest.fail, OTHERS)
    sounds.play(SOUNDS / "done.wav", 0.5)
    await sounds.wait()
    pw, pa = (tmp_path / "notes").read_text().splitlines()
    assert pw == f"{tools}/pw-play --media-role=Notification --volume=0.5000 {SOUNDS}/done.wav"
    assert pa.startswith(f"{tools}/paplay --property=media.role=event ")
    assert "--volume=52016" in pa
    assert sounds._players[0].name == "paplay", "what worked is tried first from now on"


@pytest.mark.parametrize("name", ["ring.oga", "ring.mp3", "ring.wav"])
async def test_aplay_never_gets_what_it_would_play_as_noise(tools: Path, tmp_path: Path, name: str) -> None:
    tool(tools, "aplay", 'echo played >>"$NOTES"')
    (tmp_path / name).write_bytes(b"OggS" + bytes(range(256)) * 40)
    said: list[str] = []
    sounds = SoundPlayer(said.append, OTHERS)
    sounds.play(tmp_path / name, 1.0)
    await sounds.wait()
    assert not (tmp_path / "notes").exists()
    assert "aplay gets wav files only" in said[0]


async def test_aplay_gets_a_quieter_wav_on_its_input(tools: Path, tmp_path: Path) -> None:
    tool(tools, "aplay", 'cat >"$NOTES.wav"; echo "$*" >"$NOTES"')
    sounds = SoundPlayer(pytest.fail, OTHERS)
    sounds.play(SOUNDS / "error.wav", 0.25)
    await sounds.wait()
    assert (tmp_path / "notes").read_text() == "-q -t wav -\n"
    with wave.open(str(tmp_path / "notes.wav"), "rb") as file:
        got = array.array("h", file.readframes(file.getnframes())).tolist()
    assert got == wanted("error", 0.25)


async def test_a_player_that_hangs_is_ended_with_its_children_and_reaped(
    tools: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(play, "MARGIN", 0.3)
    tool(tools, "pw-play", 'sleep 600 & echo $! $$ >"$NOTES.new"; mv "$NOTES.new" "$NOTES"; wait')
    tool(tools, "paplay", 'echo played >>"$NOTES.2"')
    said: list[str] = []
    sounds = SoundPlayer(said.append, OTHERS)
    began = time.monotonic()
    sounds.play(SOUNDS / "blocked.wav", 1.0)
    await sounds.wait()
    assert time.monotonic() - began < 10
    for pid in map(int, (tmp_path / "notes").read_text().split()):
        await eventually(lambda pid=pid: not running(pid), f"the end of {pid}")
    assert said == ["pw-play did not end with its sound, and was ended"]
    assert not (tmp_path / "notes.2").exists(), "the sound may have been heard: no second player"
    await asyncio.sleep(play.GUARD)
    sounds.play(SOUNDS / "blocked.wav", 1.0)
    await sounds.wait()
    assert (tmp_path / "notes.2").exists(), "the next sound takes another player"
    assert sounds.problems() == ()


def running(pid: int) -> bool:
    """A process that is there and no zombie (an orphan is reaped by whoever adopted it)."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def test_a_player_that_floods_its_complaints_is_ended(tools: Path, monkeypatch) -> None:
    monkeypatch.setattr(play, "MARGIN", 0.3)
    tool(tools, "paplay", "while :; do echo error; done >&2")
    said: list[str] = []
    sounds = SoundPlayer(said.append, [ROWS["paplay"]])
    sounds.play(SOUNDS / "blocked.wav", 1.0)
    await sounds.wait()
    assert len(said) == 1


async def test_no_player_at_all_is_said_once(tools: Path, monkeypatch) -> None:
    monkeypatch.setattr(play, "GUARD", 0.0)
    said: list[str] = []
    sounds = SoundPlayer(said.append, OTHERS)
    assert sounds.available == ()
    for _ in range(3):
        assert sounds.play(SOUNDS / "done.wav", 1.0, asked=True)
        await sounds.wait()
    assert said == [
        "no sound could be played (pw-play: not installed; paplay: not installed; aplay: not installed)"
    ]
    assert sounds.problems() == tuple(said)
    tool(tools, "paplay", "exit 0")
    assert sounds.available == ("paplay",)
    sounds.play(SOUNDS / "done.wav", 1.0, asked=True)
    await sounds.wait()
    assert sounds.problems() == ()


async def test_where_nothing_can_be_played_alerts_do_not_try_again_for_a_minute(
    tools: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(play, "GUARD", 0.0)
    tool(tools, "paplay", 'echo tried >>"$NOTES"; exit 1')
    sounds = SoundPlayer(lambda text: None, [ROWS["paplay"]])
    assert sounds.play(SOUNDS / "done.wav", 1.0)
    await sounds.wait()
    assert not sounds.play(SOUNDS / "error.wav", 1.0)
    assert sounds.play(SOUNDS / "error.wav", 1.0, asked=True), "a person who asks is served"
    await sounds.wait()
    assert (tmp_path / "notes").read_text() == "tried\ntried\n"


async def test_a_file_that_no_player_knows_stops_no_other_sound(
    tools: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(play, "GUARD", 0.0)
    tool(tools, "aplay", 'cat >/dev/null; echo played >>"$NOTES"')
    (tmp_path / "odd.mp3").write_bytes(b"odd")
    sounds = SoundPlayer(lambda text: None, [ROWS["aplay"]])
    assert sounds.play(tmp_path / "odd.mp3", 1.0)
    await sounds.wait()
    assert sounds.play(SOUNDS / "done.wav", 1.0)
    await sounds.wait()
    assert (tmp_path / "notes").read_text() == "played\n"


async def test_no_device_is_said_once(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(play, "GUARD", 0.0)
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PULSE_SERVER", "none")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(tmp_path / "none"))
    said: list[str] = []
    sounds = SoundPlayer(said.append, [ROWS["miniaudio"]])
    for _ in range(2):
        sounds.play(SOUNDS / "done.wav", 1.0, asked=True)
        await sounds.wait()
    assert len(said) == 1
    assert "no audio device" in said[0]


@pytest.mark.parametrize("content", [None, b"", b"RIFF", b"RIFF\xff\xff\xff\xffWAVEfmt ", os.urandom(5000)])
async def test_a_file_that_is_no_sound_is_reported(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "odd.wav"
    if content is not None:
        path.write_bytes(content)
    said: list[str] = []
    sounds = SoundPlayer(said.append, [ROWS["miniaudio"], ROWS["aplay"]])
    sounds.play(path, 1.0)
    await sounds.wait()
    assert len(said) == 1


async def test_one_sound_at_a_time(tools: Path, tmp_path: Path) -> None:
    tool(tools, "paplay", 'echo played >>"$NOTES"; sleep 0.4')
    sounds = SoundPlayer(pytest.fail, [ROWS["paplay"]])
    assert sounds.play(SOUNDS / "done.wav", 1.0)
    assert not sounds.play(SOUNDS / "done.wav", 1.0)
    await sounds.wait()
    assert (tmp_path / "notes").read_text() == "played\n"


async def test_a_volume_of_nothing_starts_nothing(tools: Path, tmp_path: Path) -> None:
    tool(tools, "paplay", 'echo played >>"$NOTES"')
    sounds = SoundPlayer(pytest.fail, [ROWS["paplay"]])
    assert sounds.play(SOUNDS / "done.wav", 0.0)
    await sounds.wait()
    assert not (tmp_path / "notes").exists()


async def test_stopping_ends_the_player(tools: Path, tmp_path: Path) -> None:
    tool(tools, "paplay", 'echo $$ >"$NOTES.new"; mv "$NOTES.new" "$NOTES"; exec sleep 600')
    sounds = SoundPlayer(pytest.fail, [ROWS["paplay"]])
    sounds.play(SOUNDS / "done.wav", 1.0)
    await eventually((tmp_path / "notes").exists, "the player runs")
    await sounds.stop()
    assert not running(int((tmp_path / "notes").read_text()))


async def test_the_daemon_itself_never_loads_the_audio_library(heard: Desktop) -> None:
    program = "import trayagent.desktop.sound.play, sys; sys.exit('miniaudio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=SOUNDS.parent).returncode == 0  # noqa: ASYNC221
