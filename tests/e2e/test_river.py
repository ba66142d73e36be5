"""From a recorded agent's pane to a banner, and by a click on it back to the pane.

Three agents replay recorded sessions on one tmux server, each in a session of its own that an xterm
shows; beside each agent's pane is another one, which is active, in a window that is not shown. The
person sits in a fourth window, so nothing is being watched.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.stage import Stage, played
from tests.support.banners import BannerMonitor, Heard
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, wait_until
from tests.support.tmux import IDLE, AttachedClient

pytestmark = [pytest.mark.desktop, pytest.mark.tmux]

DUNST = "^Dunst$"
CAST = {"shop-api": "claude/edit", "web": "codex/two", "infra": "opencode/perm_write"}
PAUSE = 0.2  # with what the recording takes by itself a second prompt comes 0.3 s after an answer


@dataclass
class Seat:
    """One agent: its pane, its session's xterm, and the X window of that."""

    project: str
    pane: str
    client: AttachedClient
    window: int


class House:
    """The person's desk: three xterms with agents, and one with something else."""

    def __init__(self, desktop: Desktop, stage: Stage, daemon: Daemon, heard: BannerMonitor) -> None:
        self.desktop, self.stage, self.daemon, self.heard = desktop, stage, daemon, heard
        self.seats: dict[str, Seat] = {}
        self.elsewhere = 0

    def furnish(self) -> None:
        """Open the xterms and start the agents; they stand at their first idle prompt."""
        for number, (project, cast) in enumerate(CAST.items()):
            self.seats[project] = self._seat(number, project, cast)
        self.desktop.spawn("elsewhere", "xterm", "-T", "elsewhere", "-geometry", "40x5+700+600", "-e", "cat")
        wait_until(lambda: self.desktop.windows("^elsewhere$"), "the fourth window")
        self.elsewhere = self.desktop.windows("^elsewhere$")[0]

    def _seat(self, number: int, project: str, cast: str) -> Seat:
        stage, tmux = self.stage, self.stage.server.tmux
        agent = cast.partition("/")[0]
        pane = stage.play(agent, project, played(cast, pause=PAUSE), beside=True)
        tmux("select-window", "-t", stage.server.new_window(pane, IDLE, "shell"))
        place = f"100x20+{20 + 60 * number}+{40 + 90 * number}"
        client = stage.server.attach_xterm(
            self.desktop.env, f"={project}:", "-T", project, "-geometry", place
        )
        wait_until(lambda: self.desktop.windows(f"^{project}$"), f"the xterm of {project}")
        return Seat(project, pane, client, self.desktop.windows(f"^{project}$")[0])

    # -- the person ------------------------------------------------------------------------

    def turn_to(self, window: int) -> None:
        """Activate a window."""
        self.desktop.xdotool("windowactivate", str(window))
        wait_until(lambda: self.active() == window, "the window to become active")

    def active(self) -> int:
        """The active window."""
        return int(self.desktop.xdotool("getactivewindow"))

    def leave(self) -> None:
        """Turn to the window that has nothing to do with agents; all watching ends."""
        self.turn_to(self.elsewhere)

    def use_last(self, seat: Seat) -> None:
        """Type into a seat's xterm (its shell window), so that it is the client used last; then leave."""
        tmux = self.stage.server.tmux
        self.turn_to(seat.window)

        def newest() -> bool:
            self.desktop.key("x")
            rows = tmux("list-clients", "-F", "#{client_activity} #{client_pid}").splitlines()
            times = sorted((int(at), int(pid)) for at, pid in map(str.split, rows))
            return times[-1][1] == seat.client.pid and times[-1][0] > times[-2][0]

        wait_until(newest, f"the xterm of {seat.project} to be the one used last")
        self.leave()

    def press_banner(self) -> None:
        """Click the banner with the middle button, which dunst takes for its default action.

        It must be there to be read: one window, drawn in more than a plain colour."""
        wait_until(lambda: self.desktop.windows(DUNST), "a banner on the screen")
        shell = self.desktop.xdotool("getwindowgeometry", "--shell", str(self.desktop.windows(DUNST)[0]))
        place = {name: int(value) for name, value in (line.split("=") for line in shell.splitlines())}
        area = (place["X"], place["Y"], place["WIDTH"], place["HEIGHT"])
        wait_until(lambda: len(set(self.desktop.pixels(*area))) > 20, "text on the banner")
        self.desktop.click(place["X"] + place["WIDTH"] // 2, place["Y"] + place["HEIGHT"] // 2, button=2)

    # -- what is to be seen ----------------------------------------------------------------

    def banners(self, project: str) -> list[Heard]:
        """The banners that say that a project's agent needs the person or failed."""
        return [one for one in self.heard.about(project) if " is done" not in one.summary]

    def blocked(self, project: str, banners: int) -> Heard:
        """Wait until the agent is listed as blocked and its banner number `banners` is on the screen."""
        seat = self.seats[project]
        self.daemon.wait_for(lambda: self.daemon.state(seat.pane) == "blocked", f"{project} is blocked")
        self.daemon.wait_for(lambda: len(self.banners(project)) >= banners, f"banner {banners} of {project}")
        found = self.banners(project)
        assert len(found) == banners, [one.summary for one in found]
        self.daemon.wait_for(lambda: found[-1].id, "the notification daemon to take it")
        return found[-1]

    def shown(self, seat: Seat) -> None:
        """Wait until the seat's xterm is the active window and shows the agent's pane as the active one."""
        spot = self.stage.server.ask("#{session_id} #{window_id} #{pane_id}", seat.pane)
        self.daemon.wait_for(lambda: seat.client.shows == spot, f"the xterm of {seat.project} to show it")
        self.daemon.wait_for(lambda: self.active() == seat.window, f"the xterm of {seat.project} in front")
        focus = lambda: int(self.desktop.xdotool("getwindowfocus"))  # noqa: E731
        self.daemon.wait_for(lambda: focus() == seat.window, f"the keyboard in the xterm of {seat.project}")
        assert self.stage.server.ask("#{pane_active} #{window_active}", seat.pane) == "1 1"
        others = [other for other in self.seats.values() if other is not seat]
        assert all(not other.client.shows.endswith(seat.pane) for other in others), "another xterm moved too"


@pytest.fixture
def house(stage: Stage, only: list[str]) -> Iterator[House]:
    with (
        Desktop(notify="dunst") as desktop,
        BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard,
    ):
        house = House(desktop, stage, Daemon(env=desktop.env, args=only), heard)
        house.furnish()
        house.leave()
        with house.daemon:
            states = lambda: [house.daemon.state(seat.pane) for seat in house.seats.values()]  # noqa: E731
            house.daemon.wait_for(lambda: states() == ["idle"] * 3, "three idle agents")
            yield house


def needs(house: House) -> list[str]:
    """The panes that need the person."""
    return [pane["pane_id"] for pane in house.daemon.list() if pane["needs_you"]]


def transitions(house: House, project: str, state: str) -> int:
    """How often the ledger says that the project's agent came into a state."""
    entries = house.daemon.history(project=project, limit=1000)
    return sum(entry.get("after") == state for entry in entries)


def test_three_agents_ask_and_each_banner_leads_to_its_pane(house: House) -> None:
    assert house.heard.banners == [], "agents that were there before the daemon are no news"
    for project in ("shop-api", "infra"):
        seat = house.seats[project]
        house.use_last(seat)
        house.stage.press(seat.pane)  # the prompt is sent: a turn begins
        banner = house.blocked(project, banners=1)
        assert banner.summary.startswith(f"{project} needs you"), banner.summary
        assert banner.body.strip(), "the question is in the banner"
        assert needs(house) == [seat.pane]
        house.press_banner()
        house.shown(seat)
        house.daemon.wait_for(lambda b=banner: b.closed, "the banner to be gone")
        house.desktop.key("Return")  # the answer, typed where the click has led to
        house.daemon.wait_for(lambda: needs(house) == [], "the item to leave the list")
        house.leave()

    web = house.seats["web"]
    house.use_last(web)
    house.stage.press(web.pane)
    first = house.blocked("web", banners=1)
    house.stage.press(web.pane)  # answered from elsewhere; the next prompt follows at once
    second = house.blocked("web", banners=2)
    house.daemon.wait_for(lambda: first.closed, "the first banner to be taken back")
    assert first.pressed == [], "it was answered, not clicked"
    assert second.body != first.body, "another question"
    house.press_banner()
    house.shown(web)
    assert second.pressed == ["default"]
    house.desktop.key("Return")
    house.daemon.wait_for(lambda: needs(house) == [], "the item to leave the list")
    house.leave()

    claude = house.seats["shop-api"]
    house.use_last(claude)
    house.stage.press(claude.pane)
    house.blocked("shop-api", banners=2)
    house.stage.press(claude.pane)
    house.daemon.wait_for(lambda: needs(house) == [], "the last prompt's item to leave the list")

    quiet = lambda: all(house.daemon.state(seat.pane) in ("idle", "done") for seat in house.seats.values())  # noqa: E731
    house.daemon.wait_for(quiet, "all turns to end")
    time.sleep(5.0)  # nothing tells that no banner comes: longer than settling and merging
    told = [one.summary for one in house.heard.banners if " is done" not in one.summary]
    assert len(told) == 5, told
    ends = {"shop-api": 2, "web": 1, "infra": 1}
    for project, turns in ends.items():
        done = [one for one in house.heard.about(project) if " is done" in one.summary]
        assert len(done) <= turns, f"{project} ended {turns} turns"
        assert transitions(house, project, "done") <= turns
        assert transitions(house, project, "error") == 0
        assert transitions(house, project, "blocked") == (1 if project == "infra" else 2)
