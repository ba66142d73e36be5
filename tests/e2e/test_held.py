"""What is not told: muted, watched, too much at once. The ledger has each event with its reason."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, asking, played
from tests.support.banners import BannerMonitor
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, wait_until

pytestmark = [pytest.mark.desktop, pytest.mark.tmux]

CALM = 1.5  # seconds after which a banner that is not there does not come: settling takes 0.2 here
QUICK = "alerts:\n  settle: {blocked: 0.2 s, other: 0.2 s}\n  merge: 0 s\n"
RATE = QUICK + "  rate: {pane: 1, window: 4 s}\n"


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    with Desktop(notify="dunst") as desktop:
        yield desktop


@pytest.fixture
def heard(desktop: Desktop) -> Iterator[BannerMonitor]:
    with BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard:
        yield heard


def blocked(daemon: Daemon, pane: str) -> dict[str, Any]:
    """The newest entry of the history about a prompt of this pane, once it has an outcome."""

    def entry() -> dict[str, Any] | None:
        entries = [entry for entry in daemon.json("history") if entry["pane"].endswith(f":{pane}")]
        newest = next((entry for entry in entries if entry.get("after") == "blocked"), None)
        return newest if newest and newest["outcome"] else None

    found: dict[str, Any] = daemon.wait_for(entry, "a prompt in the history, with an outcome")
    return found


def ask(daemon: Daemon, stage: Stage, pane: str) -> None:
    """The agent of the pane asks."""
    daemon.wait_for(lambda: daemon.state(pane) == "idle", "an idle agent")
    stage.press(pane)
    daemon.wait_for(lambda: daemon.state(pane) == "blocked", "a prompt")


def test_a_muted_pane_is_silent_and_told_when_the_mute_ends(
    stage: Stage, only: list[str], desktop: Desktop, heard: BannerMonitor
) -> None:
    muted = stage.play("claude", "quiet", asking("claude/edit"))
    loud = stage.play("codex", "loud", asking("codex/edit"))
    with Daemon(env=desktop.env, config=QUICK, args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(muted) == "idle", "an idle agent")
        assert daemon.cli("mute", muted, "--for", "1 h").returncode == 0
        ask(daemon, stage, muted)
        entry = blocked(daemon, muted)
        assert (entry["outcome"], entry["held_by"]) == ("held", "muted")
        assert "muted" in daemon.cli("history").stdout
        ask(daemon, stage, loud)
        daemon.wait_for(lambda: heard.about("loud"), "the other pane's banner")
        time.sleep(CALM)
        assert heard.about("quiet") == []
        assert daemon.cli("unmute", muted).returncode == 0
        daemon.wait_for(lambda: heard.about("quiet"), "what is still true after the mute")
        assert heard.about("quiet")[0].summary.startswith("After the mute"), heard.banners
        daemon.wait_for(lambda: blocked(daemon, muted)["outcome"] == "delivered", "the ledger to know it")


def test_what_was_answered_during_a_mute_is_never_told(
    stage: Stage, only: list[str], desktop: Desktop, heard: BannerMonitor
) -> None:
    pane = stage.play("claude", "quiet", asking("claude/edit"))
    with Daemon(env=desktop.env, config=QUICK, args=only) as daemon:
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "an idle agent")
        assert daemon.cli("mute", "--project", "quiet").returncode == 0
        ask(daemon, stage, pane)
        assert blocked(daemon, pane)["held_by"] == "muted"
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) != "blocked", "the answer")
        assert daemon.cli("unmute", "--project", "quiet").returncode == 0
        time.sleep(CALM)
        assert [one for one in heard.banners if "needs you" in one.summary] == []
        assert (blocked(daemon, pane)["outcome"], blocked(daemon, pane)["held_by"]) == ("held", "muted")


def test_a_watched_pane_is_silent_and_an_unwatched_one_is_not(
    stage: Stage, only: list[str], desktop: Desktop, heard: BannerMonitor
) -> None:
    watched = stage.play("claude", "before-my-eyes", asking("claude/edit"))
    hidden = stage.play("codex", "elsewhere", asking("codex/edit"))
    stage.server.attach_xterm(desktop.env, "=before-my-eyes:", "-T", "mine", "-geometry", "80x24+100+100")
    wait_until(lambda: desktop.windows("^mine$"), "the xterm")
    window = desktop.windows("^mine$")[0]
    desktop.xdotool("windowactivate", str(window))
    wait_until(lambda: int(desktop.xdotool("getactivewindow")) == window, "the active window")
    with Daemon(env=desktop.env, config=QUICK, args=only) as daemon:
        ask(daemon, stage, watched)
        entry = blocked(daemon, watched)
        assert (entry["outcome"], entry["held_by"]) == ("held", "watching")
        ask(daemon, stage, hidden)
        daemon.wait_for(lambda: heard.about("elsewhere"), "the banner of the pane that nobody sees")
        time.sleep(CALM)
        assert heard.about("before-my-eyes") == []
        listed = {pane["pane_id"]: pane["state"] for pane in daemon.json("list")}
        assert listed == {watched: "blocked", hidden: "blocked"}, "silent, but listed"


def test_a_banner_too_many_is_delayed_and_comes_if_still_true(
    stage: Stage, only: list[str], desktop: Desktop, heard: BannerMonitor
) -> None:
    pane = stage.play("codex", "web", played("codex/two"))
    with Daemon(env=desktop.env, config=RATE, args=only) as daemon:
        ask(daemon, stage, pane)
        daemon.wait_for(lambda: len(heard.about("web")) == 1, "the first prompt's banner")
        first = heard.about("web")[0]
        stage.press(pane)  # answered: the second prompt follows at once
        daemon.wait_for(lambda: _delayed(daemon), "a delayed delivery")
        entry = blocked(daemon, pane)
        assert (entry["outcome"], entry["held_by"]) == ("delayed", "rate-pane")
        assert "rate-pane" in daemon.cli("history").stdout
        assert len(heard.about("web")) == 1, "not yet"
        daemon.wait_for(lambda: len(heard.about("web")) == 2, "the second banner, later")
        assert heard.about("web")[1].at - first.at >= 3.5  # the window, but for a moment on the bus
        assert blocked(daemon, pane)["outcome"] == "delivered"


def test_a_delayed_banner_does_not_come_when_it_is_no_longer_true(
    stage: Stage, only: list[str], desktop: Desktop, heard: BannerMonitor
) -> None:
    pane = stage.play("codex", "web", played("codex/two"))
    with Daemon(env=desktop.env, config=RATE, args=only) as daemon:
        ask(daemon, stage, pane)
        daemon.wait_for(lambda: len(heard.about("web")) == 1, "the first prompt's banner")
        first = heard.about("web")[0]
        stage.press(pane)
        daemon.wait_for(lambda: _delayed(daemon), "a delayed delivery")
        stage.press(pane)
        daemon.wait_for(lambda: daemon.state(pane) != "blocked", "the second answer")
        time.sleep(max(0.0, first.at + 4.0 + CALM - time.monotonic()))
        assert [one.summary for one in heard.banners if "needs you" in one.summary] == [first.summary]
        entry = blocked(daemon, pane)
        assert (entry["outcome"], entry["held_by"]) == ("cancelled", "rate-pane")


def _delayed(daemon: Daemon) -> bool:
    return any(event.get("outcome") == "delayed" for event in daemon.events())
