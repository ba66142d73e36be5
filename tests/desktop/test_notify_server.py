"""Banners against a server that misbehaves on purpose: nothing blocks, nothing is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.desktop.ears import Ears
from tests.desktop.fake_notifyd import FakeNotifyd
from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify import freedesktop
from trayagent.desktop.notify.choose import notifier
from trayagent.desktop.notify.freedesktop import FreedesktopNotifier
from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerClosed, BannerFailed, BannerShown
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.settings import NotifySettings
from trayagent.model.states import State

pytestmark = pytest.mark.desktop

SERVER = ServerKey("tmux", "/tmp/s", 1, 2)
API, WEB = PaneKey(SERVER, "%1"), PaneKey(SERVER, "%2")
HOSTILE = "a & b <3 <b>x</b> </i>"


@pytest.fixture(scope="module")
def bench() -> Iterator[Desktop]:
    with Desktop() as desktop:
        yield desktop


@pytest.fixture
def address(bench: Desktop) -> str:
    return bench.env["DBUS_SESSION_BUS_ADDRESS"]


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


def banner(alert: int, *panes: PaneKey, body: str = "Run the tests?", **more: object) -> Banner:
    fields = {"title": "shop-api needs you", "body": body, "state": State.BLOCKED, **more}
    return Banner(alert, panes or (API,), **fields)  # type: ignore[arg-type]


async def test_body_is_escaped_only_where_markup_is_advertised(banners, ears, address) -> None:
    async with FakeNotifyd(address, ("body", "body-markup")) as server:
        banners.show(banner(1, title="R&D <b>", body=HOSTILE))
        await server.heard(server.notified)
        await ears.event(BannerShown(1))
        assert server.notified[0][3:5] == ["R&D <b>", "a &amp; b &lt;3 &lt;b&gt;x&lt;/b&gt; &lt;/i&gt;"]
    async with FakeNotifyd(address, ("body",)) as server:
        banners.show(banner(2, title="R&D <b>", body=HOSTILE))
        await server.heard(server.notified)
        assert server.notified[0][3:5] == ["R&D <b>", HOSTILE]


async def test_controls_bidi_and_broken_characters_never_reach_the_server(banners, ears, address) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1, title="a\x1b[31m\u202eb\nc", body="x\x00\u2066y\u200f\x9bz\tq\r\nnext\udcff"))
        await ears.event(BannerShown(1))
        assert server.notified[0][3:5] == ["a[31mb c", "xyz q\nnext"]


async def test_a_text_of_any_length_is_cut(banners, ears, address) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1, title="t" * 20_000, body="b" * 20_000))
        await ears.event(BannerShown(1))
        assert (len(server.notified[0][3]), len(server.notified[0][4])) == (200, 1000)


async def test_no_buttons_on_a_server_without_actions(banners, ears, address) -> None:
    actions = (("default", ""), ("mute", "Mute 1 h"))
    async with FakeNotifyd(address, ("body",)) as server:
        banners.show(banner(1, actions=actions))
        await ears.event(BannerShown(1))
        assert server.notified[0][5] == []
        assert not banners.capabilities.actions
    async with FakeNotifyd(address, ("actions",)) as server:
        banners.show(banner(2, actions=actions))
        await ears.event(BannerShown(2))
        assert server.notified[0][5] == ["default", "Jump", "mute", "Mute 1 h"]
        assert banners.capabilities.actions
        assert banners.capabilities.server == "fake 1"


@pytest.mark.parametrize(
    ("urgency", "level", "timeout", "transient"),
    [("low", 0, -1, True), ("normal", 1, -1, False), ("critical", 2, 0, False)],
)
async def test_only_a_critical_banner_stays_for_ever(
    banners, ears, address, urgency, level, timeout, transient
) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1, urgency=urgency))
        await ears.event(BannerShown(1))
        hints = {key: variant.value for key, variant in server.notified[0][6].items()}
        assert server.notified[0][7] == timeout
        assert hints.pop("transient", False) is transient
        assert hints == {
            "urgency": level,
            "category": "x-trayagent.agent.blocked",
            "desktop-entry": "trayagent",
            "suppress-sound": True,
        }


async def test_a_new_event_of_a_pane_closes_the_old_banner_and_opens_a_new_one(
    banners, ears, address
) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1, API))
        await ears.event(BannerShown(1))
        banners.show(banner(2, API))
        await ears.event(BannerShown(2))
        await server.heard(server.closed)
        assert server.closed == [1]
        assert [n[1] for n in server.notified] == [0, 0], "neither replaces an id in place"
        assert ears.events == [BannerShown(1), BannerClosed(1, "us"), BannerShown(2)]


async def test_a_merged_banner_takes_the_place_of_single_ones_but_not_the_reverse(
    banners, ears, address
) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1, API))
        banners.show(Banner(2, (), "notice", "", State.UNKNOWN))
        banners.show(banner(3, API, WEB))
        await ears.event(BannerShown(3))
        banners.show(banner(4, WEB))
        await ears.event(BannerShown(4))
        await ears.event(BannerClosed(1, "us"))
        await server.heard(server.closed)
        assert server.closed == [1]


async def test_a_click_is_told_with_its_token_once(banners, ears, address) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(7, actions=(("default", "Jump"),)))
        await ears.event(BannerShown(7))
        server.signal("ActivationToken", "us", 1, "token-1")
        server.signal("ActionInvoked", "us", 1, "default")
        server.signal("ActionInvoked", "us", 99, "default")  # another program's banner
        server.signal("ActionInvoked", "us", 1, "mute")
        await ears.until(lambda: len(ears.actions) == 2, "two actions")
        assert ears.actions == [(7, "default", "token-1"), (7, "mute", None)]


@pytest.mark.parametrize(
    ("reason", "by"), [(1, "time"), (2, "user"), (3, "other"), (4, "other"), (77, "other")]
)
async def test_who_closed_a_banner_is_told(banners, ears, address, reason, by) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1))
        await ears.event(BannerShown(1))
        server.signal("NotificationClosed", "uu", 1, reason)
        await ears.event(BannerClosed(1, by))
        banners.close(CloseBanner(1, "visited"))
        banners.show(banner(2))
        await ears.event(BannerShown(2))
        assert server.closed == [], "what is gone is not closed again"
        assert len([e for e in ears.events if isinstance(e, BannerClosed)]) == 1


async def test_a_banner_closed_by_us_is_told_once_as_ours(banners, ears, address) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1))
        await ears.event(BannerShown(1))
        banners.close(CloseBanner(1, "visited"))
        await server.heard(server.closed)
        banners.show(banner(2))
        await ears.event(BannerShown(2))
        assert ears.events == [BannerShown(1), BannerClosed(1, "us"), BannerShown(2)]


async def test_a_banner_taken_back_before_the_server_answered_is_closed_as_soon_as_it_did(
    banners, ears, address
) -> None:
    async with FakeNotifyd(address, mode="silent") as server:
        banners.show(banner(1))
        await server.heard(server.waiting)
        banners.close(CloseBanner(1, "answered"))
        server.answer_late()
        await server.heard(server.closed)
        assert server.closed == [1]
        assert ears.events == [BannerShown(1), BannerClosed(1, "us")]


async def test_a_close_that_arrives_with_the_answer_is_not_missed(banners, ears, address) -> None:
    async with FakeNotifyd(address, mode="closes"):
        banners.show(banner(1))
        await ears.event(BannerClosed(1, "time"))
        assert ears.events == [BannerShown(1), BannerClosed(1, "time")]


async def test_a_server_that_never_answers_fails_the_banner_and_blocks_nothing(
    banners, ears, address, monkeypatch
) -> None:
    monkeypatch.setattr(freedesktop, "ANSWER", 0.3)
    async with FakeNotifyd(address, mode="hung"):
        began = time.monotonic()
        banners.show(banner(1))
        banners.show(banner(2, WEB))
        assert time.monotonic() - began < 0.1
        await ears.event(BannerFailed(1, "the notification server does not answer"))
        await ears.event(BannerFailed(2, "the notification server does not answer"))
        assert banners.problems() == ("the notification server does not answer",)


async def test_an_answer_after_all_is_shown_and_its_clicks_work(banners, ears, address, monkeypatch) -> None:
    monkeypatch.setattr(freedesktop, "ANSWER", 0.2)
    async with FakeNotifyd(address, mode="silent") as server:
        banners.show(banner(1))
        await ears.event(BannerFailed(1, "the notification server does not answer"))
        server.answer_late()
        await ears.event(BannerShown(1))
        server.signal("ActionInvoked", "us", 1, "default")
        await ears.until(lambda: ears.actions == [(1, "default", None)], "the click")
        assert banners.problems() == ()


async def test_a_refusal_is_reported_and_the_next_banner_tries_again(banners, ears, address) -> None:
    async with FakeNotifyd(address, mode="refuse") as server:
        banners.show(banner(1))
        await ears.event(BannerFailed(1, "the notification server takes no more banners for now"))
        server.mode = "ok"
        banners.show(banner(2))
        await ears.event(BannerShown(2))


async def test_without_any_server_the_banner_fails_at_once(banners, ears) -> None:
    banners.show(banner(1))
    await ears.event(BannerFailed(1, "no notification server is running, and none can be started"))


async def test_a_server_that_can_be_started_but_fails_is_reported(banners, ears, bench) -> None:
    service = bench.folder / "services" / "broken.service"
    service.write_text(f"[D-BUS Service]\nName={freedesktop.NAME}\nExec=/bin/false\n")
    try:
        bench.run("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                  "org.freedesktop.DBus.ReloadConfig")  # fmt: skip
        banners.show(banner(1))
        await ears.until(lambda: ears.events, "a failure")
        (failed,) = ears.events
        assert isinstance(failed, BannerFailed)
        assert failed.why.startswith("the notification server cannot be started")
    finally:
        service.unlink()
        bench.run("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                  "org.freedesktop.DBus.ReloadConfig")  # fmt: skip


async def test_a_new_server_is_asked_anew_and_old_banners_are_forgotten(banners, ears, address) -> None:
    async with FakeNotifyd(address, ("body", "body-markup")) as first:
        banners.show(banner(1))
        await ears.event(BannerShown(1))
    await ears.event(BannerClosed(1, "other"))
    async with FakeNotifyd(address, ("body",)) as second:
        banners.show(banner(2, WEB, body="<b>"))
        await ears.event(BannerShown(2))
        second.signal("NotificationClosed", "uu", 1, 2)  # id 1 is now banner 2's
        await ears.event(BannerClosed(2, "user"))
        assert second.notified[0][4] == "<b>"
        assert (first.asked, second.asked) == (1, 1)


async def test_stopping_takes_open_banners_back(banners, ears, address) -> None:
    async with FakeNotifyd(address) as server:
        banners.show(banner(1))
        await ears.event(BannerShown(1))
        await banners.stop()
        await server.heard(server.closed)
        assert server.closed == [1]


async def test_without_a_bus_every_banner_fails_and_nothing_waits(ears, tmp_path) -> None:
    bus = SessionBus(environ={"XDG_RUNTIME_DIR": str(tmp_path)})
    backend = notifier(NotifySettings(), bus, ears.hear, ears.act)
    backend.start()
    began = time.monotonic()
    backend.show(banner(1))
    await ears.event(BannerFailed(1, "there is no session bus"))
    assert time.monotonic() - began < 2
    await backend.stop()
    await bus.close()


async def test_switched_off_banners_say_so(ears) -> None:
    backend = notifier(NotifySettings("off"), None, ears.hear, ears.act)
    backend.show(banner(1))
    await asyncio.sleep(0)
    assert ears.events == [BannerFailed(1, "banners are switched off (notify.backend)")]
