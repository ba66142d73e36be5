"""No locale, no display, no session bus, no tmux: what is there is used, what is missing is said once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, asking, at_dialog
from tests.support.daemon import Daemon

SHOWN = (
    ("claude", "claude/edit"),
    ("claude", "claude/narrow_80x24"),
    ("codex", "codex/edit"),
    ("opencode", "opencode/perm_write"),
)


def facts(daemon: Daemon) -> dict[str, tuple[Any, ...]]:
    """What was made of each pane: all that must not depend on the locale."""
    names = ("agent", "state", "kind", "message", "title", "session")
    return {
        pane["pane_id"]: (*(pane[name] for name in names), daemon.ask("explain", pane=pane["pane"])["trace"])
        for pane in daemon.list()
    }


@pytest.mark.tmux
def test_without_a_locale_the_states_are_the_same(stage: Stage, only: list[str]) -> None:
    size = {"claude/narrow_80x24": (80, 24)}
    panes = [
        stage.play(agent, f"ünï-{number}", at_dialog(cast), size.get(cast, (120, 40)))
        for number, (agent, cast) in enumerate(SHOWN)
    ]
    seen = []
    for locale in ({"LC_ALL": "C.UTF-8"}, {}, {"LC_ALL": "POSIX", "LANG": "xx_YY.ISO-8859-1"}):
        with Daemon(args=only, environ=locale) as daemon:
            daemon.wait_for(lambda d=daemon: [d.state(pane) for pane in panes] == ["blocked"] * 4, "prompts")
            assert daemon.cli("list").returncode == 0
            seen.append(facts(daemon))
    assert seen[1] == seen[0], "no locale at all"
    assert seen[2] == seen[0], "a locale without Unicode"
    names = {made[5] for made in seen[0].values()}
    assert names == {f"ünï-{number}" for number in range(len(SHOWN))}, "as tmux has them"
    assert any("❯" in str(made) for made in seen[0].values()), "there was something to get wrong"


@pytest.mark.tmux
def test_without_display_and_bus_it_watches_and_keeps_history(stage: Stage, only: list[str]) -> None:
    pane = stage.play("claude", "api", asking("claude/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent")
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) == "blocked", "its prompt")
        entry = daemon.wait_for(
            lambda: next((e for e in daemon.history(state="blocked") if e["outcome"]), None), "an outcome"
        )
        assert entry["outcome"] == "failed"
        assert "no session bus" in entry["held_by"]
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) != "blocked", "the answer")
        checks = {check["name"]: check for check in daemon.ask("doctor")["checks"]}
        for name in ("session bus", "tray", "notifications"):
            assert checks[name]["ok"] is False, checks[name]
        assert "DISPLAY" in checks["focus"]["text"]
        for missing, remedy in (
            ("no session bus", "DBUS_SESSION_BUS_ADDRESS"),
            ("no X server", "set DISPLAY"),
        ):
            lines = [line for line in daemon.log.splitlines() if missing in line]
            assert len(lines) == 1, f"said once: {lines}"
            assert "WARNING" in lines[0] and remedy in lines[0]


def test_without_tmux_it_starts_says_so_and_works_with_the_rest() -> None:
    with Daemon(environ={"PATH": "/nonexistent"}) as daemon:
        daemon.wait_for(lambda: daemon.said("no tmux program"), "a line about tmux")
        assert daemon.json("list") == []
        done = daemon.cli("doctor")
        assert done.returncode == 1
        assert "install tmux" in done.stdout
        assert daemon.cli("pause", "1h").returncode == 0
        assert daemon.ask("status")["paused"]["on"]
        daemon.write_config("alerts:\n  settle:\n    blocked: 9 s\n")
        daemon.ask("reload")
        assert daemon.said("no tmux program") == 1
