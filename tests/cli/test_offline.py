"""What works without a daemon: the config, the manifests, recorded screens."""

# ruff: noqa: E501

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result
from tests.conftest import SCREENS

Run = Callable[..., Result]


@pytest.fixture
def file(home: Path) -> Path:
    return home / "config" / "trayagent" / "config.yaml"


def test_the_config_is_made_checked_changed_and_read(run: Run, file: Path):
    assert run("config", "path").out == f"{file}\n"
    assert "defaults hold" in run("config", "check").out
    assert run("config", "init").code == 0
    again = run("config", "init")
    assert (again.code, "--force" in again.err) == (1, True)
    assert run("config", "check").out == f"{file}: in order\n"
    assert run("config", "get", "alerts.settle.blocked").out == "1 s\n"
    assert run("config", "set", "alerts.settle.blocked", "4s").out == "alerts.settle.blocked: 4 s\n"
    assert run("config", "get", "alerts.settle.blocked").out == "4 s\n"
    assert "    blocked: 4s\n" in file.read_text()
    assert run("config", "set", "quiet_hours", "mon-fri 22:00-07:00").code == 0
    assert run("config", "get", "quiet_hours.spans").out == "['mon,tue,wed,thu,fri 22:00-07:00']\n"
    assert run("config", "check").code == 0


def test_a_wrong_value_or_key_changes_nothing_and_says_what_is_right(run: Run, file: Path):
    run("config", "set", "tray.fold", "5")
    before = file.read_bytes()
    for args, words in (
        (("tray.fold", "many"), "whole number"),
        (("tray.flod", "5"), "did you mean tray.fold"),
        (("alerts.settle.blocked", "-3"), "duration"),
    ):
        result = run("config", "set", *args)
        assert result.code == 1
        assert words in result.err
    assert file.read_bytes() == before


def test_check_tells_places_and_exits_by_whether_the_file_can_be_used(run: Run, home: Path):
    other = home / "other.yaml"
    other.write_text("tray: {flod: 3}\n")
    warned = run("config", "check", str(other))
    assert (warned.code, warned.out.startswith(f"{other}:1:8: tray.flod: warning")) == (0, True)
    other.write_text("tray: {fold: x}\n")
    broken = run("config", "check", "--json", str(other))
    assert broken.code == 1
    (problem,) = json.loads(broken.out)
    assert (problem["line"], problem["column"], problem["key"], problem["error"]) == (
        1,
        14,
        "tray.fold",
        True,
    )
    assert run("config", "check", str(home / "missing.yaml")).code == 1
    assert run("config", "--file", str(other), "path").out == f"{other}\n"


def test_the_schema_is_for_people_and_programs(run: Run):
    text = run("config", "schema", "alerts.settle").out
    assert "alerts.settle.blocked: 1 s" in text
    assert "tray" not in text
    rows = json.loads(run("config", "schema", "--json").out)
    assert {"key": "tray.fold", "form": "a whole number from 1 to 100", "default": "8",
            "doc": "More working and idle panes than this go into a submenu."} in rows  # fmt: skip
    assert run("config", "schema", "trya").code == 1


def test_edit_opens_the_editor_of_choice_and_checks_afterwards(
    run: Run, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
):
    editor = home / "my editor"
    editor.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'a').write('tray: {{fold: x}}\\n')\n"
    )
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{editor}' -w")
    result = run("config", "edit")
    assert result.code == 1
    assert f"{file}:" in result.out
    assert "tray" in result.out
    monkeypatch.setenv("EDITOR", "/does/not/exist")
    assert "set EDITOR" in run("config", "edit").err


# -- manifests ----------------------------------------------------------------------------------


def test_manifests_are_listed_checked_and_shown(run: Run, home: Path):
    rows = {row["id"]: row for row in json.loads(run("manifests", "list", "--json").out)}
    assert rows["claude"]["source"] == "bundled"
    assert "claude" in run("manifests", "list").out
    assert run("manifests", "show", "claude", "--text").out == Path(rows["claude"]["path"]).read_text()
    assert run("manifests", "show", "claude", "--path").out.strip() == rows["claude"]["path"]
    assert run("manifests", "show", "nobody").code == 1
    bad = home / "bad.toml"
    bad.write_text("id = 'x'\n[[rules]\n")
    result = run("manifests", "check", str(bad))
    assert result.code == 1
    assert str(bad) in result.out
    assert run("manifests", "check", rows["claude"]["path"]).code == 0


# -- recorded screens -----------------------------------------------------------------------------


def judged(run: Run, *files: Path) -> list[dict[str, object]]:
    result = run("explain", "--json", "--screen", *map(str, files))
    return [json.loads(line) for line in result.out.splitlines()]


def test_recorded_screens_are_judged_one_line_a_file_in_order_by_the_screen_alone(run: Run, tmp_path: Path):
    blocked, idle = SCREENS / "claude" / "blocked_ask.json", SCREENS / "claude" / "idle_fresh_80x24.json"
    answers = judged(run, idle, blocked, idle)
    assert [answer["state"] for answer in answers] == ["idle", "blocked", "idle"]
    assert list(answers[1]) == ["agent", "state", "kind", "rule", "why"]
    assert (answers[1]["agent"], answers[1]["kind"]) == ("claude", "question")
    data = json.loads(blocked.read_text())
    lying = tmp_path / "idle_x.json"
    lying.write_text(json.dumps({**data, "state": "idle", "scenario": "nothing"}))
    nameless = tmp_path / "nameless.json"
    nameless.write_text(
        json.dumps({key: value for key, value in data.items() if key not in ("agent", "state")})
    )
    assert judged(run, lying, nameless) == [answers[1]] * 2


def test_a_shell_at_its_prompt_and_an_unknown_agent_are_unknown(run: Run, tmp_path: Path):
    exited = next(
        path for path in SCREENS.glob("*/*.json") if json.loads(path.read_text()).get("state") == "exited"
    )
    (answer,) = judged(run, exited)
    assert answer["state"] == "unknown"
    assert "prompt" in str(answer["why"])
    stranger = tmp_path / "stranger.json"
    stranger.write_text(json.dumps({"agent": "nobody", "screen": "hello"}))
    (answer,) = judged(run, stranger)
    assert (answer["agent"], answer["state"], answer["why"]) == (
        "nobody",
        "unknown",
        "no manifest for 'nobody'",
    )


def test_a_file_that_is_no_screen_keeps_its_place_in_the_order_and_is_exit_1(run: Run, tmp_path: Path):
    good = SCREENS / "claude" / "blocked_ask.json"
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text("{}")
    result = run("explain", "--json", "--screen", str(good), str(tmp_path / "bad.json"), str(tmp_path / "other.json"),
                 str(tmp_path / "missing.json"), str(good))  # fmt: skip
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 1
    assert [line["state"] for line in lines] == ["blocked", "unknown", "unknown", "unknown", "blocked"]
    assert all(str(tmp_path) in line["why"] for line in lines[1:4])


def test_a_single_screen_is_explained_rule_by_rule(run: Run):
    text = run("explain", "--screen", str(SCREENS / "claude" / "blocked_ask.json")).out
    assert text.splitlines()[0].startswith("blocked_ask.json  claude  ◆ blocked (question)")
    assert "=>" in text
    assert "failed at:" in text
    assert "Enter to select" in text


def test_a_host_name_is_nobodys_title_and_a_folders_name_may_be_one(tmp_path: Path):
    from trayagent.cli.screens import screen_of

    tree = [{"pid": 1, "cwd": "/home/dev/shop-api"}]
    for title, kept in (("devbox", ""), ("box.example.org", ""), ("shop-api", "shop-api"), ("✳ Fix it", "✳ Fix it"),
                        ("OpenCode", "OpenCode")):  # fmt: skip
        assert screen_of({"screen": "x", "title": title, "process_tree": tree}).title == kept


# -- recorded sessions ----------------------------------------------------------------------------


def test_a_recorded_session_is_replayed_a_line_a_change(run: Run, tmp_path: Path):
    cast = SCREENS / "claude" / "ask.cast"
    lines = [json.loads(line) for line in run("replay", str(cast), "--json").out.splitlines()]
    assert "blocked" in [line["to"] for line in lines]
    assert all({"t", "from", "to", "agent", "rule", "why", "alert"} <= line.keys() for line in lines)
    assert len(run("replay", str(cast), "--agent", "claude").out.splitlines()) >= 3
    missing = run("replay", str(tmp_path / "missing.cast"))
    assert (missing.code, "cannot be read" in missing.err) == (1, True)
    (tmp_path / "bad.cast").write_text("{}\n")
    assert run("replay", str(tmp_path / "bad.cast")).code == 1
