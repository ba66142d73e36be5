"""Why a pane has its state: everything that was known, asked and found, for people and as JSON."""

from __future__ import annotations

import re
import time
import tomllib
from typing import Any

import pytest

from tests.e2e.stage import Stage, asking, at_dialog
from tests.support.daemon import Daemon
from trayagent.resources import folder

pytestmark = pytest.mark.tmux

WRAPPER = "timeout --foreground 1000"


def rules_of(agent: str) -> dict[str, dict[str, Any]]:
    """The rules of the bundled manifest, by id, read by nothing of ours."""
    data = tomllib.loads((folder("manifests") / f"{agent}.toml").read_text())
    return {rule["id"]: rule for rule in data["rules"]}


def test_explain_tells_process_rules_regions_claims_and_decision(stage: Stage, only: list[str]) -> None:
    pane = stage.play("claude", "shop-api", asking("claude/edit"), wrapper=WRAPPER)
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent")
        stage.server.tmux("set-option", "-p", "-t", pane, "@agent_state", f"working:{int(time.time())}")
        time.sleep(2.1)  # a younger claim would be believed against the screen
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the prompt, against the claim")
        told = daemon.wait_for(lambda: _with_claims(daemon, pane), "the claim")
        page = daemon.cli("explain", pane).stdout

        decision = told["decision"]
        assert (decision["state"], decision["kind"], decision["source"]) == (
            "blocked",
            "permission",
            "screen",
        )
        identity = told["identity"]
        assert identity["agent"] == "claude"
        assert identity["chain"] == ["timeout"]
        assert [process["name"] for process in identity["job"]] == ["timeout", "claude"]
        assert identity["pid"] == identity["job"][1]["pid"]
        manifest = told["manifest"]
        assert (manifest["id"], manifest["source"]) == ("claude", "bundled")
        assert manifest["path"].endswith("manifests/claude.toml")

        asked = {rule["id"]: rule for rule in told["trace"]["rules"]}
        assert set(asked) == set(rules_of("claude")), "every rule, not only those before the winner"
        won = [id for id, rule in asked.items() if rule["won"]]
        assert won == [decision["rule"]]
        assert asked[won[0]]["matched"]
        assert any("Do you want to make this edit" in row for row in asked[won[0]]["rows"])
        for rule in asked.values():
            assert rule["region"]
            assert rule["matched"] or rule["decided"], f"{rule['id']}: what made it fail"
            if rule["asked"]:
                assert rule["matched"] or any(not one["found"] for one in rule["asked"]), rule["id"]

        (claim,) = told["claims"]
        assert (claim["source"], claim["state"]) == ("option", "working")
        assert 0 <= claim["age"] < 60

        _page_says_the_same(page, told)


def _with_claims(daemon: Daemon, pane: str) -> dict[str, Any] | None:
    told: dict[str, Any] = daemon.json("explain", pane)
    return told if told["claims"] else None


def _page_says_the_same(page: str, told: dict[str, Any]) -> None:
    lines = page.splitlines()
    assert "blocked (permission)" in lines[1]
    for process in told["identity"]["job"]:
        assert re.search(rf"^\s+{process['pid']}\s+{process['name']}\s", page, re.M)
    assert re.search(r"through\s+timeout", page)
    assert re.search(r"claude\s+version \S+\s+bundled\s+\S+claude\.toml", page)
    for rule in told["trace"]["rules"]:
        (line,) = [line for line in lines if f" {rule['priority']}  {rule['id']}  " in line]
        assert line.lstrip().startswith("=>" if rule["won"] else "ok" if rule["matched"] else "--")
        if not rule["matched"]:
            assert "failed at: " in line, line
    winner = next(rule for rule in told["trace"]["rules"] if rule["won"])
    assert f"| {winner['rows'][-1].strip()}" in page
    assert re.search(r"option\s+working\s+\d+ (s|min) ago", page)


def test_explain_tells_why_a_pane_is_idle_and_which_rules_came_close(stage: Stage, only: list[str]) -> None:
    pane = stage.play("codex", "web", at_dialog("codex/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "the prompt")
        before = daemon.json("explain", pane)
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) in ("idle", "done"), "the end of the turn")
        after = daemon.json("explain", pane)
        rule = before["decision"]["rule"]
        verdicts = [
            next(one for one in told["trace"]["rules"] if one["id"] == rule)["matched"]
            for told in (before, after)
        ]
        assert verdicts == [True, False], "judged anew by the screen as it is now"
        assert after["decision"]["state"] in ("idle", "done")


def test_explain_of_nobody_and_nothing_is_an_error_with_words(stage: Stage, only: list[str]) -> None:
    with Daemon(args=only) as daemon:
        done = daemon.cli("explain", "%77")
        assert (done.returncode, done.stdout) == (1, "")
        assert "%77" in done.stderr
        nowhere = daemon.cli("explain")
        assert nowhere.returncode == 2
        assert "pane" in nowhere.stderr.lower()
