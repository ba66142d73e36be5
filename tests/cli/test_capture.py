"""`capture`: a fixture without names, paths and secrets, on which nothing has moved."""

from __future__ import annotations

import json
import os
import pwd
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.conftest import FakeDaemon, Result
from trayagent.cli.redact import Redactor, fit, own_words, remote_words
from trayagent.cli.screens import Judge
from trayagent.manifest.load import Library

Run = Callable[..., Result]

SCREEN = """\
╭────────────────────────────────────────────────────────────╮
│ alexandra@lovelace ~/secret-shop (mail alex@lovelace.org)  │
│ export API_KEY=abcdef0123456789abcdef                      │
╰────────────────────────────────────────────────────────────╯
 /home/alexandra/secret-shop/alexandra_notes.md
 git@git.lovelace.org:analytical/engine.git
"""


def redactor() -> Redactor:
    words = [("alexandra", "dev"), ("lovelace", "devbox"), ("secret-shop", "project"), ("al", "dev")]
    return Redactor([*words, *remote_words("git@git.lovelace.org:analytical/engine.git")])


def test_names_are_replaced_in_place_and_borders_stay() -> None:
    rows = redactor().text(SCREEN).split("\n")
    assert [len(row) for row in rows[:4]] == [62] * 4
    text = "\n".join(rows)
    for name in ("alexandra", "lovelace", "secret-shop", "analytical", "engine.git", "abcdef", "alex@"):
        assert name not in text
    assert rows[1] == "│ devxxxxxx@devboxxx ~/projectxxxx (mail dev@example.comxx)  │"[: len(rows[1])]
    assert rows[2].startswith("│ export API_KEY=•••")
    assert rows[2].endswith("│")


def test_a_name_within_a_longer_word_is_left_alone_and_case_does_not_matter() -> None:
    found = Redactor([("anna", "dev")])
    assert found.text("Hannah susanna ANNA anna_x anna-x anna.") == "Hannah susanna devx devx_x devx-x devx."
    assert Redactor([]).text("nothing") == "nothing"


def test_the_agents_own_name_stays_and_that_is_told() -> None:
    found = Redactor([("claude", "dev")], kept=["claude"])
    assert found.text("claude") == "claude"
    assert found.kept == ["claude"]


def test_a_key_block_keeps_its_rows_and_nothing_of_the_key() -> None:
    text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb"
    assert Redactor([]).text(text) == "a\n•••\n•••\n•••\nb"


@pytest.mark.parametrize(("stand_in", "length", "expected"), [("dev", 5, "devxx"), ("project", 3, "pro")])
def test_a_stand_in_fits(stand_in: str, length: int, expected: str) -> None:
    assert fit(stand_in, length) == expected


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("git@github.com:owner/name.git", ["owner", "name"]),
        ("https://github.com/owner/name", ["owner", "name"]),
        ("ssh://git@git.corp.io:2222/team/sub/name.git", ["team", "sub", "name", "git.corp.io"]),
        ("https://user:token@git.corp.io/owner/name/", ["owner", "name", "git.corp.io"]),
        ("/srv/repo", []),
    ],
)
def test_owner_project_and_host_of_a_remote_are_names(url: str, words: list[str]) -> None:
    assert [word for word, _ in remote_words(url)] == words


def test_the_users_own_names_are_known(tmp_path: Path) -> None:
    folder = tmp_path / "hidden-work"
    folder.mkdir()
    for command in (["init", "-q"], ["remote", "add", "origin", "git@git.corp.io:team/name.git"],
                    ["config", "user.name", "Ada Byron"]):  # fmt: skip
        subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)
    words = {word for word, _ in own_words(str(folder))}
    assert {"hidden-work", "team", "name", "git.corp.io", "Ada", "Byron"} <= words
    assert {pwd.getpwuid(os.getuid()).pw_name, socket.gethostname()} <= words
    assert not {"home", "tmp"} & words


# -- the command ---------------------------------------------------------------------------------

TOLD: dict[str, Any] = {
    "agent": "claude", "cols": 62, "rows": 20, "title": "✳ zanzibar", "progress": "", "screen": SCREEN,
    "pane_current_command": "claude", "dir": "/srv/zanzibar",
    "process_tree": [
        {"pid": 1, "ppid": 0, "pgrp": 1, "tpgid": 2, "comm": "bash", "argv": ["bash"], "cwd": ""},
        {"pid": 2, "ppid": 1, "pgrp": 2, "tpgid": 2, "comm": "claude", "cwd": "",
         "argv": ["claude", "-C", "/srv/zanzibar"]},
    ],
}  # fmt: skip


@pytest.fixture
def told(daemon: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDaemon:
    daemon.answers["capture"] = TOLD
    monkeypatch.chdir(home)
    return daemon


def answer(monkeypatch: pytest.MonkeyPatch, yes: bool) -> None:
    monkeypatch.setattr(click, "confirm", lambda *_, **__: yes)


def test_it_is_shown_and_written_after_a_yes(
    run: Run, told: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, True)
    result = run("capture", "%5", "--state", "blocked", "--agent-version", "2.1", "--note", "in zanzibar")
    assert result.code == 0, result.err
    assert told.asked == [("capture", {"pane": "%5"})]
    assert "zanzibar -> projectx" in result.out
    fixture = json.loads((home / "claude_blocked_1.json").read_text())
    assert (fixture["agent"], fixture["state"], fixture["version"]) == ("claude", "blocked", "2.1")
    assert (fixture["scenario"], fixture["title"]) == ("in projectx", "✳ projectx")
    assert fixture["process_tree"][1]["argv"] == ["claude", "-C", "/srv/projectx"]
    assert "zanzibar" not in json.dumps(fixture)
    assert "dir" not in fixture
    assert run("capture", "%5", "--state", "blocked", "--yes").code == 0
    assert (home / "claude_blocked_2.json").exists()


def test_a_no_writes_nothing(run: Run, told: FakeDaemon, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, False)
    result = run("capture", "%5", "--state", "idle")
    assert (result.code, "nothing was written" in result.err) == (1, True)
    assert not list(home.glob("*.json"))


def test_a_file_that_is_there_is_never_overwritten(run: Run, told: FakeDaemon, home: Path) -> None:
    (home / "x.json").write_text("mine")
    result = run("capture", "%5", "--state", "idle", "--yes", "--out", "x.json")
    assert (result.code, (home / "x.json").read_text()) == (1, "mine")


def test_the_state_is_asked_for_and_must_be_a_known_one(run: Run, told: FakeDaemon) -> None:
    assert run("capture", "%5").code == 2
    assert run("capture", "%5", "--state", "busy").code == 2


def test_what_was_written_is_a_screen_that_explain_can_judge(run: Run, told: FakeDaemon, home: Path) -> None:
    run("capture", "%5", "--state", "idle", "--yes", "--out", "x.json")
    judged = Judge(Library.standard()).judge(home / "x.json")
    assert (judged.agent, judged.problem) == ("claude", False)


def test_it_can_be_printed_alone(run: Run, told: FakeDaemon, home: Path) -> None:
    assert json.loads(run("capture", "%5", "--state", "idle", "--out", "-").out)["state"] == "idle"
    assert not list(home.glob("*.json"))
