"""Rule files that change while the daemon runs, those of other tools, joined rows, and a pane's capture."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, at_dialog
from tests.support.daemon import Daemon
from tests.support.player import Script
from trayagent.cli.screens import Judge
from trayagent.manifest.load import Library

pytestmark = pytest.mark.tmux

MINE = 'id = "claude"\n[[rules]]\nid = "mine"\nstate = "{0}"\nregex = ["."]\n'


def state_and_rule(daemon: Daemon, pane: str) -> tuple[str | None, str]:
    told = daemon.json("explain", pane)
    return told["decision"]["state"], told["decision"]["rule"]


def test_a_rule_file_counts_as_soon_as_it_is_saved_and_until_it_is_gone(
    stage: Stage, only: list[str]
) -> None:
    pane = stage.play("claude", "one", at_dialog("claude/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the bundled rules serve")
        daemon.manifests.mkdir(parents=True)
        own = daemon.manifests / "claude.toml"
        own.write_text(MINE.format("working"))
        daemon.wait_for(lambda: daemon.state(pane) == "working", "the user's rules serve")
        own.write_text(MINE.format("working").replace("regex", "regx"))
        daemon.wait_for(lambda: daemon.said("regx"), "a broken file is told")
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the bundled rules serve again")
        own.write_text(MINE.format("working"))
        daemon.wait_for(lambda: daemon.state(pane) == "working", "the mended rules serve")
        own.unlink()
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the bundled rules serve at last")
        assert daemon.said("regx") == 1


def test_rules_of_other_tools_serve_once_the_user_asks_for_them_and_read_joined_rows(
    stage: Stage, only: list[str]
) -> None:
    long = "words " * 30 + "until the very end"
    pane = stage.play("claude", "one", Script().output(f"{long}\r\n".encode()).key(), size=(80, 24))
    with Daemon(args=only) as daemon:
        home = Path(daemon.env["HOME"])
        rules = home / ".tmux-ide" / "agent-detection"
        rules.mkdir(parents=True)
        matcher = {"contains": long[:170]}
        text = json.dumps({"id": "claude", "commands": ["claude"], "states": {"blocked": {"any": [matcher]}}})
        (rules / "c.json").write_text(text)
        daemon.wait_for(lambda: daemon.pane(pane), "the agent is known")
        assert daemon.state(pane) != "blocked"
        daemon.write_config("manifests: {import: [tmux-ide]}\n")
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "its rules read the row that was wrapped")
        sources = {row["id"]: row["source"] for row in daemon.json("manifests", "list")}
        assert sources["claude"] == "tmux-ide"
        (rules / "c.json").write_text(text.replace("blocked", "working"))
        daemon.wait_for(lambda: daemon.state(pane) == "working", "its folder is watched")


def test_an_update_and_its_rollback_count_at_once(stage: Stage, only: list[str]) -> None:
    pane = stage.play("claude", "one", at_dialog("claude/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the bundled rules serve")
        published = Path(daemon.env["HOME"]) / "published"
        published.mkdir()
        text = MINE.format("working").replace(
            '"claude"\n', '"claude"\nversion = "9999"\nmin_engine_version = 3\n'
        )
        (published / "claude.toml").write_text(text)

        (published / "index.toml").write_text(
            'schema_version = 1\n[[agents]]\nid = "claude"\npath = "claude.toml"\nversion = "9999"\n'
            f'min_engine_version = 3\nsha256 = "{hashlib.sha256(text.encode()).hexdigest()}"\n'
        )
        done = daemon.cli("manifests", "update", "--from", str(published))
        assert done.returncode == 0, done.stderr
        daemon.wait_for(lambda: daemon.state(pane) == "working", "the update serves")
        assert daemon.cli("manifests", "rollback").returncode == 0
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the bundled rules serve again")


def test_a_pane_is_captured_without_the_users_names(stage: Stage, only: list[str], tmp_path: Path) -> None:
    pane = stage.play("claude", "shopproject", at_dialog("claude/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the dialog is seen")
        out = tmp_path / "captured.json"
        done = daemon.cli("capture", pane, "--state", "blocked", "--yes", "--out", str(out))
        assert done.returncode == 0, done.stderr
        fixture = json.loads(out.read_text())
        assert (fixture["agent"], fixture["state"], fixture["cols"]) == ("claude", "blocked", 120)
        assert "shopproject" not in out.read_text()
        assert os.fspath(stage.folder) not in out.read_text()
        judged = Judge(Library.standard()).judge(out)
        assert (judged.agent, judged.state, judged.rule) == ("claude", *state_and_rule(daemon, pane))
        assert "shopproject" not in daemon.log
