"""The scenes on the stage: quiet panes, busy panes, dialogs, a start."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from benchmarks.icon import Icon
from benchmarks.meter import Meter, memory
from benchmarks.rows import Row
from benchmarks.stage import KNOWN, Stage, Watcher, busy_recordings, busy_script, quiet_script, stage
from tests.support.banners import BannerMonitor
from tests.support.casts import Recording
from tests.support.desktop import Desktop

SILENT = frozenset({"gemini", "qwen", "opencode", "aider", "kimi", "kilo"})  # they stand still at a dialog
WARM = 15.0  # seconds until a fresh daemon knows all panes and they have settled
EARLY, LATE = 2.0, 5.0  # a decision belongs to the dialog that it came at most so long before or after


@dataclass(frozen=True, slots=True)
class Plan:
    """How thorough. seconds: of each CPU measurement; panes: how many; dialogs: seconds of listening."""

    seconds: float = 60.0
    panes: int = 50
    dialogs: float = 120.0
    starts: int = 7
    desktop: bool = True


@contextmanager
def surroundings_of(plan: Plan) -> Iterator[Mapping[str, str] | None]:
    """The environment of a desktop with tray and notifications, None without one."""
    with Desktop(tray="xfce4-panel", notify="dunst") if plan.desktop else nullcontext() as desktop:
        yield desktop.env if desktop is not None else None


def quiet(plan: Plan) -> list[Row]:
    """Panes in which nothing happens."""
    with surroundings_of(plan) as env, stage() as place:
        for number, session in enumerate(busy_recordings(plan.panes, KNOWN)):
            place.play(session, quiet_script(session), f"p{number:03}", again=False)
        with Watcher(place, env) as watcher:
            time.sleep(WARM)
            listed = len(watcher.panes())
            server, ours = Meter(place.server.pid).start(), Meter(watcher.pid).start()
            time.sleep(plan.seconds)
            name = f"CPU, {plan.panes} quiet panes"
            note = f"daemon and children, {plan.seconds:g} s, {listed} panes listed"
            return [
                Row(f"{name}: ours", ours.percent(), "%", 0.1 if plan.panes == 50 else None, note),
                Row(f"{name}: tmux server", server.percent(), "%", None, "with us"),
            ]


def busy(plan: Plan) -> list[Row]:
    """Panes that play recorded sessions of all agents over and over."""
    limits = {50: 1.5, 200: 4.0}
    with surroundings_of(plan) as env, stage() as place:
        play_all(place, busy_recordings(plan.panes))
        time.sleep(WARM)
        alone = Meter(place.server.pid).start()
        time.sleep(plan.seconds)
        without = alone.percent()
        with Watcher(place, env) as watcher:
            time.sleep(WARM)
            listed = len(watcher.panes())
            server, ours = Meter(place.server.pid).start(), Meter(watcher.pid).start()
            time.sleep(plan.seconds)
            mine, theirs = ours.percent(), server.percent()
            name = f"{plan.panes} busy panes"
            note = f"daemon and children, {listed} listed"
            most = 45.0 if plan.panes == 50 else None
            rows = [
                Row(f"CPU, {name}: ours", mine, "%", limits.get(plan.panes), note),
                Row(f"CPU, {name}: tmux server without us", without, "%"),
                Row(f"CPU, {name}: tmux server with us", theirs, "%"),
            ]
            what = "with tray" if env is not None else "without a desktop"
            rows.append(Row(f"memory, {name}", memory(watcher.pid), "MB", most, what))
        return rows


def dialogs(plan: Plan) -> list[Row]:
    """From the first frame that equals the settled dialog to the decision, among busy panes."""
    with stage() as place:
        sessions = [each for each in busy_recordings(plan.panes * 4, KNOWN) if each.dialogs]
        asking = sessions[: plan.panes // 2]
        playing = asking + busy_recordings(plan.panes - len(asking))
        play_all(place, playing)
        with Watcher(place) as watcher:
            time.sleep(WARM)
            watcher.listen()
            began = time.time()
            time.sleep(plan.dialogs)
            marks = [mark for mark in place.marks() if began + EARLY < mark[1] < time.time() - LATE]
            pairs = matched(marks, watcher.blocked())
    delays = [(agent, delay) for _, agent, delay in pairs]
    noticed = {mark for mark, _, _ in pairs}
    missed = [
        playing[int(project[1:])].name for mark, (project, _) in enumerate(marks) if mark not in noticed
    ]
    every = [delay for _, delay in delays]
    still = [delay for agent, delay in delays if agent in SILENT]
    rows = [Row(f"readable -> decided, {agent}", _median(delays, agent), "ms") for agent in KNOWN]
    silent = 1000 * statistics.median(still)
    rows.append(Row("readable -> decided, silent agents, median", silent, "ms", 300.0))
    note = f"{len(every)} dialogs at {plan.panes} busy panes"
    rows.append(Row("readable -> decided, worst", 1000 * max(every), "ms", 1100.0, note))
    note = " ".join([f"of {len(marks)} that became readable", *missed[:3]])
    rows.append(Row("dialogs that were not noticed", float(len(missed)), "", 0.0, note))
    return rows


def told(plan: Plan) -> list[Row]:
    """From the decision to the Notify call, with nothing to wait for."""
    config = (
        "alerts:\n  settle: {blocked: 0, other: 0}\n  merge: 0\n  rate: {same: 0, pane: 1000, total: 1000}\n"
        "  states: {done: off, error: off}\n"
    )
    with Desktop(tray="none", notify="dunst") as desktop, stage() as place:
        sessions = [each for each in busy_recordings(40, KNOWN) if each.dialogs][:6]
        play_all(place, sessions)
        address = desktop.env["DBUS_SESSION_BUS_ADDRESS"]
        with BannerMonitor(address) as heard, Watcher(place, desktop.env, config) as watcher:
            watcher.listen()
            time.sleep(plan.dialogs / 2)
            offset = time.time() - time.monotonic()
            shown = [(banner.summary.split(" ")[0], banner.at + offset) for banner in list(heard.banners)]
            decided = watcher.blocked()
    delays = []
    for project, at in shown:
        before = [moment for name, _, moment in decided if name == project and moment <= at + 0.002]
        if before and at - before[-1] < LATE:
            delays.append(1000 * (at - before[-1]))
    note = f"{len(delays)} banners, worst {max(delays):.1f} ms; settle and merge set to 0"
    return [Row("decided -> Notify call, median", statistics.median(delays), "ms", 20.0, note)]


def start(plan: Plan) -> list[Row]:
    """From the start of the process to the icon in the panel."""
    with Desktop(tray="xfce4-panel", notify="dunst") as desktop, stage() as place:
        for number, session in enumerate(busy_recordings(plan.panes, KNOWN)):
            place.play(session, quiet_script(session), f"p{number:03}", again=False)
        times = []
        for _ in range(plan.starts):
            with Icon(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as icon:
                began = time.monotonic()
                with Watcher(place, desktop.env):
                    times.append(icon.wait() - began)
        note = f"{plan.starts} starts, worst {1000 * max(times):.0f} ms, {plan.panes} panes"
        return [Row("start -> icon, median", 1000 * statistics.median(times), "ms", 600.0, note)]


def play_all(place: Stage, sessions: list[Recording]) -> None:
    """All sessions, over and over, each beginning at another moment."""
    for number, session in enumerate(sessions):
        delay = 0.37 * (number % 20)
        place.play(session, busy_script(session), f"p{number:03}", again=True, delay=delay)


def matched(
    marks: list[tuple[str, float]], decided: list[tuple[str, str, float]]
) -> list[tuple[int, str, float]]:
    """(number of the mark, agent, seconds from it to the decision) of each dialog that was noticed."""
    pairs = [
        (abs(row[2] - at), mark, number)
        for mark, (project, at) in enumerate(marks)
        for number, row in enumerate(decided)
        if row[0] == project and at - EARLY <= row[2] <= at + LATE
    ]
    of_mark: dict[int, int] = {}
    for _, mark, number in sorted(pairs):  # the nearest ones belong together
        if mark not in of_mark and number not in of_mark.values():
            of_mark[mark] = number
    return [(mark, decided[row][1], decided[row][2] - marks[mark][1]) for mark, row in of_mark.items()]


def _median(delays: list[tuple[str, float]], agent: str) -> float:
    mine = [1000 * delay for name, delay in delays if name == agent]
    return statistics.median(mine) if mine else float("nan")
