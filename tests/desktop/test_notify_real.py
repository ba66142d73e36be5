"""Banners on real notification daemons, pressed with a real pointer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.desktop.ears import Ears
from tests.support.desktop import Desktop, wait_until
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify.freedesktop import NAME, PATH, FreedesktopNotifier
from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerClosed, BannerShown
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.states import State

pytestmark = pytest.mark.desktop

PANE = PaneKey(ServerKey("tmux", "/tmp/s", 1, 2), "%1")
HOSTILE = "a & b <3 <b>x</b> </i> &lt; <a href='http://x'>link</a>"
BUTTONS = (("default", "Jump"), ("mute", "Mute 1 h"))
DUNST = "^Dunst$"
CONFIG = (
    "[global]\nwidth = 400\nheight = 200\nmarkup = {markup}\nshow_indicators = no\nfont = DejaVu Sans 10\n"
)


@pytest.fixture(scope="module")
def bench() -> Iterator[Desktop]:
    with Desktop() as desktop:
        yield desktop


@pytest.fixture
def dunst(bench: Desktop) -> Iterator[Desktop]:
    bench.start_notifier("dunst")
    yield bench
    bench.stop("dunst")


@pytest.fixture
async def ears() -> Ears:
    return Ears()


@pytest.fixture
async def banners(bench: Desktop, ears: Ears) -> AsyncIterator[FreedesktopNotifier]:
    bus = SessionBus(environ=bench.env)
    assert await bus.wait(15)
    backend = FreedesktopNotifier(bus, ears.hear, ears.act)
    backend.start()
    yield backend
    await backend.stop()
    await bus.close()


def banner(
    alert: int, body: str = "Run the tests?", actions: tuple[tuple[str, str], ...] = BUTTONS
) -> Banner:
    return Banner(alert, (PANE,), "shop-api needs you", body, State.BLOCKED, actions=actions)


def place(desktop: Desktop, window: int) -> tuple[int, int, int, int]:
    """Left, top, width, height of a window."""
    shell = desktop.xdotool("getwindowgeometry", "--shell", str(window))
    found = dict(line.split("=") for line in shell.splitlines())
    return int(found["X"]), int(found["Y"]), int(found["WIDTH"]), int(found["HEIGHT"])


async def shown(desktop: Desktop, name: str = DUNST) -> tuple[int, int, int, int]:
    """Where the banner is, once it is on the screen. The loop runs meanwhile."""
    await asyncio.to_thread(wait_until, lambda: desktop.windows(name), "a banner on the screen")
    return place(desktop, desktop.windows(name)[0])


async def press(desktop: Desktop, button: int) -> None:
    """Click into dunst's banner."""
    left, top, width, height = await shown(desktop)
    desktop.click(left + width // 2, top + height // 2, button=button)


async def test_dunst_shows_a_banner_and_takes_it_back(dunst, banners, ears) -> None:
    banners.show(banner(1))
    await ears.event(BannerShown(1))
    await shown(dunst)
    banners.close(CloseBanner(1, "visited"))
    await ears.event(BannerClosed(1, "us"))
    await asyncio.to_thread(wait_until, lambda: not dunst.windows(DUNST), "no banner on the screen", 5)


async def test_a_middle_click_on_dunst_jumps(dunst, banners, ears) -> None:
    banners.show(banner(5))
    await ears.event(BannerShown(5))
    await press(dunst, 2)
    await ears.until(lambda: ears.actions, "the action")
    await ears.event(BannerClosed(5, "user"))
    assert ears.actions == [(5, "default", None)]


async def test_a_dismissed_banner_is_no_answer(dunst, banners, ears) -> None:
    banners.show(banner(6))
    await ears.event(BannerShown(6))
    await press(dunst, 1)
    await ears.event(BannerClosed(6, "user"))
    assert ears.actions == []


async def test_a_second_event_of_the_pane_comes_up_again_on_dunst(dunst, banners, ears) -> None:
    banners.show(banner(1, "first question"))
    await ears.event(BannerShown(1))
    banners.show(banner(2, "second question"))
    await ears.event(BannerShown(2))
    assert BannerClosed(1, "us") in ears.events
    await press(dunst, 2)
    await ears.until(lambda: ears.actions, "the action")
    assert ears.actions == [(2, "default", None)], "only the new banner is there to be pressed"


async def test_a_restarted_dunst_serves_again(dunst, banners, ears) -> None:
    banners.show(banner(1))
    await ears.event(BannerShown(1))
    dunst.stop("dunst")
    await ears.event(BannerClosed(1, "other"))
    dunst.start_notifier("dunst")
    banners.show(banner(2))
    await ears.event(BannerShown(2))
    await press(dunst, 2)
    await ears.until(lambda: ears.actions, "the action")
    assert ears.actions == [(2, "default", None)]


async def picture(desktop: Desktop) -> list[tuple[int, int, int]]:
    """The banner as drawn, once two pictures in a row are alike."""
    where = await shown(desktop)
    last: list[list[tuple[int, int, int]]] = [[]]

    def steady() -> bool:
        now = desktop.pixels(*where)
        if now == last[0]:
            return True
        last[0] = now
        return False

    await asyncio.to_thread(wait_until, steady, "a banner that is drawn")
    return last[0]


def start_dunst(desktop: Desktop, markup: str) -> None:
    config = desktop.folder / "dunstrc"
    config.write_text(CONFIG.format(markup=markup))
    desktop.spawn("dunst", "dunst", "-conf", str(config))
    wait_until(lambda: desktop.owner("org.freedesktop.Notifications"), "dunst")


async def test_text_with_markup_looks_exactly_as_it_reads(bench, banners, ears) -> None:
    """What we send to a dunst that draws markup is drawn like the bare text on one that never does."""
    start_dunst(bench, "full")
    try:
        banners.show(banner(1, HOSTILE, actions=()))
        await ears.event(BannerShown(1))
        assert banners.capabilities.markup
        ours = await picture(bench)
    finally:
        bench.stop("dunst")
    start_dunst(bench, "no")
    try:
        bus = SessionBus(environ=bench.env)
        await bus.call(NAME, PATH, NAME, "Notify", "susssasa{sv}i",
                       ["other", 0, "", "shop-api needs you", HOSTILE, [], {}, -1])  # fmt: skip
        await bus.close()
        bare = await picture(bench)
    finally:
        bench.stop("dunst")
    assert ours == bare
    assert len(set(ours)) > 10, "there is text in the picture"


async def test_xfce_draws_the_default_action_as_a_button_named_jump(bench, banners, ears) -> None:
    bench.start_notifier("xfce4-notifyd")
    try:
        banners.show(banner(3, actions=BUTTONS[:1]))
        await ears.event(BannerShown(3))
        left, top, width, height = await shown(bench, "^[xX]fce4-notifyd$")
        bench.click(left + width - 57, top + height - 31)  # its only button, in the lower right corner
        await ears.until(lambda: ears.actions, "the action")
        assert ears.actions == [(3, "default", None)]
    finally:
        bench.stop("xfce4-notifyd")
