"""However an editor saves, the file is read again, once."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from trayagent.config import watch
from trayagent.config.load import Config
from trayagent.config.watch import ConfigWatch, FolderWatch


class Watched:
    """A watch that counts, and notes what the file held when it was told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told: list[str | None] = []
        self._news = asyncio.Event()
        self.watch = ConfigWatch(path, self._changed)
        self.watch.start()

    def _changed(self) -> None:
        self.told.append(self.path.read_text() if self.path.exists() else None)
        self._news.set()

    async def settled(self, expected: list[str | None]) -> None:
        """Wait for the news, then until nothing more can be on its way."""
        async with asyncio.timeout(10):
            while len(self.told) < len(expected):
                await self._news.wait()
                self._news.clear()
        await asyncio.sleep(watch.DEBOUNCE * 2)
        assert self.told == expected


@pytest.fixture
async def watching(tmp_path: Path) -> AsyncIterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def start(path: Path) -> Watched:
        made.append(Watched(path))
        return made[-1]

    yield start
    for one in made:
        one.watch.stop()


def by_vim(path: Path, text: str) -> None:
    """As vim does it: the old file is moved to a backup, the new one written, the backup removed."""
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def by_sed(path: Path, text: str) -> None:
    subprocess.run(["sed", "-i", f"s/.*/{text}/", path], check=True)


def by_moving_over(path: Path, text: str) -> None:
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def by_truncating(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.flush()
        file.write(text[:1])
        file.flush()
        file.write(text[1:])


SAVERS = [by_vim, by_sed, by_moving_over, by_truncating]


@pytest.mark.parametrize("save", SAVERS)
async def test_each_way_of_saving_is_noticed_once_each_time(
    tmp_path: Path, watching: Callable[..., Watched], save: Callable[[Path, str], None]
):
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    for n, text in enumerate(["two", "three"], 1):
        save(path, text)
        await watched.settled(["two", "three"][:n])
        assert path.read_text().strip() == text


async def test_delete_and_create_a_moment_later_is_one_change(
    tmp_path: Path, watching: Callable[..., Watched]
):
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    for pause, text in ((0.2, "two"), (0.6, "three")):
        path.unlink()
        await asyncio.sleep(pause)
        path.write_text(text)
        await watched.settled(["two", "three"] if text == "three" else ["two"])


async def test_a_file_that_stays_away_is_told_too(tmp_path: Path, watching: Callable[..., Watched]):
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    path.unlink()
    await watched.settled([None])
    path.write_text("two")
    await watched.settled([None, "two"])


async def test_a_link_that_is_turned_is_noticed_and_its_new_target_watched(
    tmp_path: Path, watching: Callable[..., Watched]
):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "real.yaml").write_text(name)
    (tmp_path / "home").mkdir()
    (tmp_path / "middle.yaml").symlink_to("a/real.yaml")
    path = tmp_path / "home" / "config.yaml"
    path.symlink_to("../middle.yaml")
    watched = watching(path)
    (tmp_path / "turned").symlink_to("b/real.yaml")
    os.rename(tmp_path / "turned", tmp_path / "middle.yaml")  # noqa: PTH104 (as `ln -sfn` does)
    await watched.settled(["b"])
    by_moving_over(tmp_path / "b" / "real.yaml", "b2")
    await watched.settled(["b", "b2"])
    (tmp_path / "a" / "real.yaml").write_text("a2")  # no longer on the way
    await watched.settled(["b", "b2"])


async def test_a_linked_folder_that_is_turned_is_noticed(tmp_path: Path, watching: Callable[..., Watched]):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").write_text(name)
    (tmp_path / "current").symlink_to("a")
    watched = watching(tmp_path / "current" / "config.yaml")
    (tmp_path / "turned").symlink_to("b")
    (tmp_path / "turned").replace(tmp_path / "current")
    await watched.settled(["b"])
    by_vim(tmp_path / "b" / "config.yaml", "b2")
    await watched.settled(["b", "b2"])


async def test_a_folder_that_is_made_later_is_found(tmp_path: Path, watching: Callable[..., Watched]):
    path = tmp_path / "config" / "trayagent" / "config.yaml"
    watched = watching(path)
    path.parent.mkdir(parents=True)
    await asyncio.sleep(0.4)
    assert watched.told == []
    path.write_text("one")
    await watched.settled(["one"])
    shutil.rmtree(tmp_path / "config")
    await watched.settled(["one", None])
    path.parent.mkdir(parents=True)
    path.write_text("two")
    await watched.settled(["one", None, "two"])


async def test_a_save_without_a_change_and_other_files_are_not_told(
    tmp_path: Path, watching: Callable[..., Watched]
):
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    by_vim(path, "one")
    (tmp_path / "other.yaml").write_text("x")
    path.touch()
    await asyncio.sleep(watch.DEBOUNCE * 3)
    by_vim(path, "two")
    await watched.settled(["two"])


async def test_a_burst_of_saves_is_one_reload(tmp_path: Path, watching: Callable[..., Watched]):
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    for n in range(20):
        by_vim(path, f"save {n}")
        await asyncio.sleep(0)
    await watched.settled(["save 19"])


async def test_without_inotify_the_file_is_looked_at(
    tmp_path: Path, watching: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch, "inotify_simple", None)
    monkeypatch.setattr(watch, "POLL", 0.1)
    path = tmp_path / "config.yaml"
    path.write_text("one")
    watched = watching(path)
    by_vim(path, "two")
    await watched.settled(["two"])


# -- what the daemon makes of it -----------------------------------------------------------------


def test_a_broken_file_keeps_the_last_good_settings_and_is_told_once(tmp_path: Path):
    path = tmp_path / "config.yaml"
    config = Config(path)
    assert config.reload().changed is False
    path.write_text("tray: {fold: 3}")
    assert config.reload().changed
    assert config.settings.tray.fold == 3
    path.write_text("tray: {fold: 4}\nalerts:\n  states: [blo")
    broken = config.reload()
    assert (broken.changed, config.settings.tray.fold, config.broken) == (False, 3, True)
    assert broken.said[0].startswith(f"{path}:3:")
    assert "stay in force" in broken.said[-1]
    path.write_text("tray: {fold: 4}\nalerts:\n  states: [blo")
    assert config.reload().said == ()
    path.write_text("tray: {fold: 4}\nalerts:\n  states: [blocked]\n")
    mended = config.reload()
    assert mended.changed
    assert "in order again" in mended.said[0]
    assert (config.settings.tray.fold, config.broken, config.messages) == (4, False, ())


def test_a_warning_is_told_once_and_the_file_is_used(tmp_path: Path):
    path = tmp_path / "config.yaml"
    path.write_text("tary: {fold: 3}\ntray: {fold: 5}\n")
    config = Config(path)
    first = config.reload()
    assert config.settings.tray.fold == 5
    assert first.said == (f"{path}:1:1: tary: warning: is not known and has no effect (did you mean tray?)",)
    assert config.reload().said == ()


@pytest.mark.parametrize("kind", ["folder", "latin-1", "huge"])
def test_a_file_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, kind: str):
    path = tmp_path / "config.yaml"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"tray:\n  # caf\xe9\n" if kind == "latin-1" else b"# " + b"x" * 10_000_000)
    config = Config(path)
    said = config.reload().said
    assert config.broken
    assert {"folder": "cannot be read", "latin-1": f"{path}:2:8: is not UTF-8", "huge": "KiB"}[kind] in said[
        0
    ]


# -- folders -------------------------------------------------------------------------------------


class Folders:
    """A folder watch that counts how often it told of a change."""

    def __init__(self, *roots: Path) -> None:
        self.told = 0
        self._news = asyncio.Event()
        self.watch = FolderWatch(roots, self._changed, (".toml", ".json"))
        self.watch.start()

    def _changed(self) -> None:
        self.told += 1
        self._news.set()

    async def news(self) -> None:
        """The next change; then until nothing more can be on its way."""
        async with asyncio.timeout(10):
            await self._news.wait()
        await self.silence()

    async def silence(self) -> None:
        """Wait for as long as a change could take to be told."""
        await asyncio.sleep(watch.DEBOUNCE * 2)
        self._news.clear()


@pytest.fixture
async def folders() -> AsyncIterator[Callable[..., Folders]]:
    made: list[Folders] = []

    def start(*roots: Path) -> Folders:
        made.append(Folders(*roots))
        return made[-1]

    yield start
    for one in made:
        one.watch.stop()


async def test_a_file_that_comes_changes_or_goes_in_a_folder_is_told(
    folders: Callable[..., Folders], tmp_path: Path
):
    watched = folders(tmp_path)
    (tmp_path / "a.toml").write_text("one")
    await watched.news()
    by_moving_over(tmp_path / "a.toml", "two")
    await watched.news()
    (tmp_path / "a.toml").unlink()
    await watched.news()
    assert watched.told == 3


async def test_other_files_of_the_folder_are_not_told(folders: Callable[..., Folders], tmp_path: Path):
    watched = folders(tmp_path)
    (tmp_path / "notes.txt").write_text("one")
    (tmp_path / "a.toml~").write_text("one")
    await watched.silence()
    assert watched.told == 0


async def test_a_folder_that_is_made_later_is_watched_and_so_is_one_below_it(
    folders: Callable[..., Folders], tmp_path: Path
):
    root = tmp_path / "config" / "rules"
    watched = folders(root)
    root.mkdir(parents=True)
    await watched.silence()
    (root / "demo").mkdir()
    await watched.silence()
    before = watched.told
    (root / "demo" / "detection.toml").write_text("one")
    await watched.news()
    (root / "demo" / "detection.toml").write_text("two")
    await watched.news()
    assert watched.told == before + 2


async def test_a_link_that_is_pointed_elsewhere_is_told(folders: Callable[..., Folders], tmp_path: Path):
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.toml").write_text(name)
    (tmp_path / "current").symlink_to("1")
    watched = folders(tmp_path / "current")
    (tmp_path / "new").symlink_to("2")
    (tmp_path / "new").replace(tmp_path / "current")
    await watched.news()
    (tmp_path / "2" / "a.toml").write_text("three")
    await watched.news()
    assert watched.told == 2


async def test_a_single_file_may_be_watched_among_folders(folders: Callable[..., Folders], tmp_path: Path):
    watched = folders(tmp_path / "pack.json", tmp_path / "rules")
    (tmp_path / "pack.json").write_text("one")
    await watched.news()
    (tmp_path / "other.json").write_text("one")
    await watched.silence()
    assert watched.told == 1
