"""The lock, as screen savers and logind tell it (played by programs on private buses)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from dbus_fast import Variant

from tests.desktop.ears import Ears, eventually
from tests.desktop.fake_bus import FakeService
from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.window.lock import LOGIND, LOGIND_PATH, PROPERTIES, SESSION, LockWatch
from trayagent.desktop.window.systembus import SystemBus
from trayagent.model.events import Locked

pytestmark = pytest.mark.desktop

GNOME, GNOME_PATH = "org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"
USER_PATH, SESSION_PATH = f"{LOGIND_PATH}/user/_1", f"{LOGIND_PATH}/session/_31"


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
async def lock(bench: Desktop, address: str, ears: Ears) -> AsyncIterator[LockWatch]:
    """One bus plays both."""
    session, system = SessionBus(environ=bench.env), SystemBus({"DBUS_SYSTEM_BUS_ADDRESS": address})
    assert await session.wait(15)
    assert await system.wait(15)
    watch = LockWatch(ears.hear, session, system)
    watch.start()
    yield watch
    await watch.stop()
    await session.close()
    await system.close()


class Logind(FakeService):
    """logind with one session of ours. graphical: User.Display names it."""

    def __init__(self, address: str, locked: bool = False, graphical: bool = True) -> None:
        self.locked, self.graphical = locked, graphical
        answers: dict[tuple[str, str], Any] = {
            (LOGIND_PATH, "GetUser"): lambda body: ("o", [USER_PATH]) if body == [os.getuid()] else None,
            (LOGIND_PATH, "GetSessionByPID"): ("o", [SESSION_PATH]),
            (USER_PATH, "Get"): lambda body: ("v", [self.display()]),
            (SESSION_PATH, "Get"): lambda body: ("v", [Variant("b", self.locked)]),
        }
        super().__init__(address, LOGIND, answers)

    def display(self) -> Variant:
        return Variant("(so)", ["1", SESSION_PATH] if self.graphical else ["", "/"])

    def lock(self, locked: bool) -> None:
        self.locked = locked
        changed = {"LockedHint": Variant("b", locked)}
        self.signal(SESSION_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", SESSION, changed, [])


async def test_a_screen_saver_locks_and_unlocks(lock, ears, address) -> None:
    async with FakeService(address, GNOME, {(GNOME_PATH, "GetActive"): ("b", [False])}) as saver:
        await eventually(lambda: lock.witnesses, "the saver's word")
        saver.signal(GNOME_PATH, GNOME, "ActiveChanged", "b", True)
        await ears.event(Locked(True))
        saver.signal(GNOME_PATH, GNOME, "ActiveChanged", "b", True)
        saver.signal(GNOME_PATH, GNOME, "ActiveChanged", "b", False)
        await ears.event(Locked(False))
        assert ears.events == [Locked(True), Locked(False)]


async def test_a_session_that_is_locked_already_is_told_at_the_start(lock, ears, address) -> None:
    async with FakeService(address, GNOME, {(GNOME_PATH, "GetActive"): ("b", [True])}):
        await ears.event(Locked(True))
    await ears.event(Locked(False))  # the locker died: the screen is free


async def test_a_screen_saver_without_a_state_is_no_witness(lock, ears, address) -> None:
    name, path = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
    async with FakeService(address, name, {}) as saver:
        await eventually(lambda: saver.calls, "the question")
        saver.signal(path, name, "ActiveChanged", "s", "nonsense")
        saver.signal(path, name, "ActiveChanged", "b", True)
        await ears.event(Locked(True))
    await ears.event(Locked(False))


@pytest.mark.parametrize("graphical", [True, False])
async def test_logind_s_hint_of_the_person_s_session(lock, ears, address, graphical) -> None:
    async with Logind(address, graphical=graphical) as logind:
        await eventually(lambda: "logind" in lock.witnesses, "logind's word")
        assert not lock.locked
        logind.lock(True)
        await ears.event(Locked(True))
        logind.lock(False)
        await ears.event(Locked(False))
        asked = [member for path, member, _ in logind.calls if path == LOGIND_PATH]
        assert ("GetSessionByPID" in asked) is not graphical


async def test_a_new_session_is_looked_at(lock, ears, address) -> None:
    async with Logind(address) as logind:
        await eventually(lambda: "logind" in lock.witnesses, "logind's word")
        logind.locked = True
        logind.signal(LOGIND_PATH, f"{LOGIND}.Manager", "SessionNew", "so", "2", SESSION_PATH)
        await ears.event(Locked(True))


async def test_locked_while_one_of_two_says_so(lock, ears, address) -> None:
    async with Logind(address) as logind, FakeService(address, GNOME, {}) as saver:
        await eventually(lambda: "logind" in lock.witnesses, "logind's word")
        logind.lock(True)
        await ears.event(Locked(True))
        saver.signal(GNOME_PATH, GNOME, "ActiveChanged", "b", True)
        await eventually(lambda: len(lock.witnesses) == 2, "the saver's word")
        logind.lock(False)
        saver.signal(GNOME_PATH, GNOME, "ActiveChanged", "b", False)
        await ears.event(Locked(False))
        assert ears.events == [Locked(True), Locked(False)]


async def test_without_buses_nothing_is_locked_and_nothing_fails(ears, tmp_path) -> None:
    system = SystemBus({"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/none"})
    assert not await system.wait(5)
    watch = LockWatch(ears.hear, None, system)
    watch.start()
    assert not watch.locked
    assert system.problems() == ()
    await watch.stop()
    await system.close()
