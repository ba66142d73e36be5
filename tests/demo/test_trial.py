"""`doctor --alert`: each step of a real alert with a verdict, whatever is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.demo.showing import OnTerminal, click_banner, left_of, run
from tests.support.desktop import Desktop

pytestmark = [pytest.mark.tmux, pytest.mark.desktop]


def verdicts(text: str) -> dict[str, str]:
    """Name to mark of each step."""
    return {name: mark for mark, name in re.findall(r"^(ok|~|NO)  ?(\w+)", text, re.MULTILINE)}


def test_a_click_on_the_banner_comes_back() -> None:
    with Desktop(tray="xfce4-panel", notify="dunst", sound=True) as desktop:
        with OnTerminal(desktop.env, "doctor", "--alert") as shown:
            shown.wait_for("Please click")
            click_banner(desktop)
            assert shown.ended() == 0, shown.text
        steps = ["icon", "agent", "focus", "question", "banner", "sound", "click"]
        found = verdicts(shown.text)
        assert {name: found.get(name) for name in steps} == dict.fromkeys(steps, "ok")
        assert re.search(r"banner +dunst \S+ .*took it as number \d+ within \d+ ms", shown.text)
        assert re.search(r"sound +miniaudio played it to its end", shown.text)
        assert re.search(r"click +the click came back as `default`", shown.text)
        assert left_of(desktop.run_dir) == []


def test_nobody_at_the_terminal_is_not_asked_to_click() -> None:
    with Desktop(tray="xfce4-panel", notify="dunst", sound=True) as desktop:
        done = run(desktop.env, "doctor", "--alert", "--json")
        steps = {step["name"]: step for step in json.loads(done.stdout)}
        assert done.returncode == 0
        assert steps["click"]["ok"] is None
        assert steps["end"]["ok"] is True, "answered in its pane, the banner is taken back"


def test_a_desktop_that_must_not_be_disturbed_is_said_to_be_one() -> None:
    with Desktop(tray="xfce4-panel", notify="dunst") as desktop:
        desktop.run("dunstctl", "set-paused", "true")
        done = run(desktop.env, "doctor", "--alert")
        assert done.returncode == 0
        assert re.search(r"^~ +banner +the alert is held: desktop-dnd", done.stdout, re.MULTILINE)


def test_over_ssh_each_step_says_what_is_missing(poor: dict[str, str]) -> None:
    done = run(poor, "doctor", "--alert")
    assert done.returncode == 1
    found = verdicts(done.stdout)
    assert (found["icon"], found["agent"], found["question"], found["banner"]) == ("NO", "ok", "ok", "NO")
    assert "session bus" in done.stdout
    assert left_of(Path(poor["XDG_RUNTIME_DIR"])) == []


def test_without_tmux_it_says_how_to_get_it(poor: dict[str, str]) -> None:
    done = run({**poor, "PATH": "/nonexistent"}, "doctor", "--alert")
    assert done.returncode == 1
    assert "install tmux" in done.stderr
