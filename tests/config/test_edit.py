"""`config set` changes one value and leaves every other byte alone."""

# ruff: noqa: E501

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.config import schema
from trayagent.config.edit import EditRefused, get_value, set_value
from trayagent.config.example import example
from trayagent.config.parse import parse
from trayagent.config.write import real_path, write_text

FILE = """\
# my config
alerts:   # what I want
  # told after
  settle:
    blocked: 1 s   # quick
    other: &slow 2 s

  merge: *slow  # the same
  critical:
  - blocked
  - error
sounds: {mode: audio, volume: 0.5} # loud
quiet_hours: 22:00-07:00
"""


def changed(text: str, path: str, value: str) -> tuple[list[str], list[str]]:
    """The lines that went and those that came."""
    old, new = text.splitlines(keepends=True), set_value(text, path, value).splitlines(keepends=True)
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("alerts.settle.blocked", "3 s", ["    blocked: 1 s   # quick\n"], ["    blocked: 3 s   # quick\n"]),
        ("alerts.merge", "5", ["  merge: *slow  # the same\n"], ["  merge: 5  # the same\n"]),
        ("sounds.volume", "80 %", ["sounds: {mode: audio, volume: 0.5} # loud\n"], ["sounds: {mode: audio, volume: 80 %} # loud\n"]),
        ("sounds.gap", "1 min", ["sounds: {mode: audio, volume: 0.5} # loud\n"], ["sounds: {mode: audio, volume: 0.5, gap: 1 min} # loud\n"]),
        ("sounds.states.done", "~/a b.ogg", ["sounds: {mode: audio, volume: 0.5} # loud\n"], ["sounds: {mode: audio, volume: 0.5, states: {done: ~/a b.ogg}} # loud\n"]),
        ("alerts.critical", "[error]", ["  critical:\n", "  - blocked\n", "  - error\n"], ["  critical: [error]\n"]),
        ("quiet_hours", "off", ["quiet_hours: 22:00-07:00\n"], ["quiet_hours: off\n"]),
        ("alerts.short_turn", "9", [], ["  short_turn: 9\n"]),
        ("alerts.rate.pane", "4", [], ["  rate:\n", "    pane: 4\n"]),
        ("tray.fold", "12", [], ["tray:\n", "  fold: 12\n"]),
        ("alerts.agents.codex", "[blocked]", [], ["  agents:\n", "    codex: [blocked]\n"]),
        ("alerts.projects.my.app.done", "off", [], ["  projects:\n", "    my.app:\n", "      done: off\n"]),
        ("alerts.mute", "[{project: 'a b'}]", [], ["  mute: [{project: 'a b'}]\n"]),
        ("detect.agents.x", "a: b", [], ["detect:\n", "  agents:\n", "    x: 'a: b'\n"]),
    ],
)  # fmt: skip
def test_only_the_key_at_hand_changes(path: str, value: str, old: list[str], new: list[str]):
    assert changed(FILE, path, value) == (old, new)


def test_a_new_key_goes_after_its_sections_last_entry():
    lines = set_value(FILE, "alerts.short_turn", "9").splitlines()
    assert lines[lines.index("  short_turn: 9") - 1] == "  - error"
    assert lines[lines.index("  short_turn: 9") + 1].startswith("sounds:")


def test_line_ends_byte_order_mark_and_a_missing_last_newline_are_kept():
    crlf = FILE.replace("\n", "\r\n")
    for path, value in [("alerts.settle.blocked", "3 s"), ("alerts.rate.pane", "4"), ("tray.fold", "12")]:
        assert set_value(crlf, path, value) == set_value(FILE, path, value).replace("\n", "\r\n")
        assert set_value("\ufeff" + FILE, path, value) == "\ufeff" + set_value(FILE, path, value)
    assert set_value("tray:\n  fold: 3", "tray.recent", "5") == "tray:\n  fold: 3\n  recent: 5\n"
    assert set_value("\ufeff", "tray.recent", "5") == "\ufefftray:\n  recent: 5\n"
    assert set_value("---\n", "tray.recent", "5") == "---\ntray:\n  recent: 5\n"
    assert set_value("tray: {}", "tray.recent", "5") == "tray: {recent: 5}"


def test_in_the_example_file_a_value_goes_below_its_commented_default():
    text = example()
    for key in schema.KEYS:
        value = key.type.example(key.default)
        after = set_value(text, key.path, value)
        name = key.path.rpartition(".")[2]
        removed = [line for line in text.splitlines() if line not in after.splitlines()]
        assert removed == []
        lines = after.splitlines()
        (at,) = [
            n
            for n, line in enumerate(lines)
            if line not in text.splitlines() or lines.count(line) > text.splitlines().count(line)
        ]
        assert lines[at].strip() == f"{name}: {value}"
        assert lines[at - 1] == lines[at].replace(f"{name}:", f"# {name}:")


@pytest.mark.parametrize(
    ("text", "path", "value", "words"),
    [
        (FILE, "alerts.settle.other", "9 s", "without changing more"),  # *slow is used by alerts.merge
        ("x: &x {blocked: 2}\nalerts:\n  settle: *x\n", "alerts.settle.blocked", "9", "*x"),
        ("alerts:\n  critical:\n  - blocked # mine\n  - done\n", "alerts.critical", "[]", "comments"),
        (FILE, "quiet_hours.allow", "[blocked]", "short form"),
        (FILE, "alerts.setle.blocked", "1", "did you mean alerts.settle.blocked"),
        (FILE, "alerts.merge", "soon", "'soon' is no duration"),
        (FILE, "alerts.settle", "5", "mapping with blocked, other"),
        (FILE, "alerts.settle", "{blokced: 5}", "blocked"),
        (FILE, "alerts.merge", "", "has no value"),
        ("alerts: {merge: x}\n", "tray.fold", "3", "line 1"),
        ("---\n...\n", "tray.fold", "3", "..."),
        ("~\n", "tray.fold", "3", "editor"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_cleanly_is_refused_with_the_reason(text: str, path: str, value: str, words: str):
    with pytest.raises(EditRefused) as refused:
        set_value(text, path, value)
    assert words in str(refused.value)


@given(
    st.sampled_from([key.path for key in schema.KEYS]),
    st.sampled_from(["on", "off", "3", "0.5", "7 s", "[]", "[blocked]", "visible", "both", "22:00-07:00", "x y", "{a: b}", "{a: off}", "none", "auto", "a, b", "#5", "*x", "'"]),
    st.sampled_from([FILE, example(), "", "tray: {}\n", FILE.replace("\n", "\r\n"), "{alerts: {}, tray: ~}", "alerts: ~\nsounds:\n# end"]),
)  # fmt: skip
def test_any_accepted_change_gives_that_value_and_no_other(path: str, value: str, text: str):
    before = parse(text)
    try:
        after = parse(set_value(text, path, value))
    except EditRefused:
        return
    assert after.errors == ()
    for key in schema.KEYS:
        if key.path != path:
            assert get_value(after, key.path) == get_value(before, key.path)
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    kept = set_value(text, path, value).splitlines()
    assert [line for line in kept if line in comments] == comments


# -- where it is written -----------------------------------------------------------------------


@pytest.mark.parametrize("links", [0, 1, 3])
def test_a_file_behind_links_is_written_and_the_links_stay(tmp_path: Path, links: int):
    target = tmp_path / "dotfiles" / "real.yaml"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o640)
    path = target
    for number in range(links):
        folder = tmp_path / f"link{number}"
        folder.mkdir()
        (folder / "config.yaml").symlink_to(path if number % 2 else os.path.relpath(path, folder))
        path = folder / "config.yaml"
    write_text(path, "new")
    assert target.read_text() == "new"
    assert path.is_symlink() == bool(links)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [entry.name for entry in target.parent.iterdir()] == ["real.yaml"]


def test_a_missing_file_and_folder_are_made_also_at_the_end_of_a_dangling_link(tmp_path: Path):
    write_text(tmp_path / "a" / "b" / "config.yaml", "x")
    assert (tmp_path / "a" / "b" / "config.yaml").read_text() == "x"
    (tmp_path / "link.yaml").symlink_to("c/real.yaml")
    write_text(tmp_path / "link.yaml", "y")
    assert (tmp_path / "c" / "real.yaml").read_text() == "y"


def test_a_read_only_target_is_refused_with_its_place(tmp_path: Path):
    store = tmp_path / "store"
    store.mkdir()
    (store / "config.yaml").write_text("x")
    (store / "config.yaml").chmod(0o444)
    (tmp_path / "config.yaml").symlink_to(store / "config.yaml")
    with pytest.raises(EditRefused, match="read-only") as refused:
        write_text(tmp_path / "config.yaml", "y")
    assert str(store / "config.yaml") in str(refused.value)
    assert (store / "config.yaml").read_text() == "x"


def test_a_hard_link_is_written_in_place(tmp_path: Path):
    (tmp_path / "one").write_text("something longer")
    os.link(tmp_path / "one", tmp_path / "two")
    write_text(tmp_path / "one", "new")
    assert (tmp_path / "two").read_text() == "new"


def test_links_in_a_circle_are_refused(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(EditRefused, match="circle"):
        write_text(tmp_path / "a", "x")
    with pytest.raises(EditRefused):
        real_path(tmp_path / "b")
