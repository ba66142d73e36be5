"""The backend without D-Bus: shown or failed, never blocking, with text that its helpers cannot misread."""

from __future__ import annotations

import os
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from tests.desktop.ears import Ears
from trayagent.desktop.notify import plyer_
from trayagent.desktop.notify.choose import notifier
from trayagent.desktop.notify.plyer_ import PlyerNotifier
from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerFailed, BannerShown
from trayagent.model.settings import NotifySettings
from trayagent.model.states import State

WORKS = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done > "$NOTED.new"
mv "$NOTED.new" "$NOTED"
"""


def banner(alert: int, title: str = "shop-api needs you", body: str = "Run the tests?") -> Banner:
    return Banner(alert, (), title, body, State.BLOCKED)


def pretend(monkeypatch: pytest.MonkeyPatch, notify: object) -> None:
    """Put a plyer in place whose `notify` is ours."""
    fake = types.ModuleType("plyer")
    fake.notification = types.SimpleNamespace(notify=notify)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "plyer", fake)


async def test_it_serves_where_there_is_no_bus() -> None:
    ears = Ears()
    backend = notifier(NotifySettings(), None, ears.hear, ears.act)
    assert isinstance(backend, PlyerNotifier)
    assert not backend.capabilities.actions
    assert not backend.capabilities.close


@pytest.mark.skipif(sys.platform != "linux", reason="the helper of plyer's Linux backend")
@pytest.mark.filterwarnings("ignore:The Python dbus package")
async def test_plyer_itself_hands_the_text_on_as_text(monkeypatch, tmp_path: Path) -> None:
    helper, noted = tmp_path / "notify-send", tmp_path / "noted"
    helper.write_text(WORKS)
    helper.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NOTED", str(noted))
    ears = Ears()
    backend = PlyerNotifier(ears.hear, ears.act)
    backend.show(banner(1, "--help", "it's \x1b[1mbold\u202e"))
    await ears.event(BannerShown(1))
    assert noted.read_text().splitlines()[:2] == [" --help", "it\u2019s [1mbold"]
    backend.close(CloseBanner(1, "visited"))
    assert ears.events == [BannerShown(1)]


async def test_texts_fit_into_what_windows_takes(monkeypatch) -> None:
    said: list[dict[str, object]] = []
    pretend(monkeypatch, lambda **fields: said.append(fields))
    ears = Ears()
    PlyerNotifier(ears.hear, ears.act).show(banner(1, "-" + "t" * 500, "-" + "b" * 5000))
    await ears.event(BannerShown(1))
    assert len(str(said[0]["title"])) <= 63
    assert len(str(said[0]["message"])) <= 255


async def test_a_system_without_banners_is_reported(monkeypatch) -> None:
    def notify(**_: object) -> None:
        raise NotImplementedError

    pretend(monkeypatch, notify)
    ears = Ears()
    backend = PlyerNotifier(ears.hear, ears.act)
    backend.show(banner(1))
    await ears.event(BannerFailed(1, "plyer knows no way to show banners on this system"))
    assert backend.problems() == ("plyer knows no way to show banners on this system",)


async def test_whatever_plyer_raises_is_reported(monkeypatch) -> None:
    def notify(**_: object) -> None:
        raise ValueError("too long")

    pretend(monkeypatch, notify)
    ears = Ears()
    PlyerNotifier(ears.hear, ears.act).show(banner(1))
    await ears.event(BannerFailed(1, "plyer: ValueError: too long"))


async def test_a_plyer_that_hangs_blocks_nothing_and_is_not_fed_for_ever(monkeypatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(plyer_, "WAIT", 0.2)
    pretend(monkeypatch, lambda **_: release.wait(30))
    ears = Ears()
    backend = PlyerNotifier(ears.hear, ears.act)
    try:
        for alert in (1, 2, 3):
            began = time.monotonic()
            backend.show(banner(alert))
            assert time.monotonic() - began < 0.1
            await ears.until(lambda alert=alert: len(ears.events) == alert, "a failure")
        assert ears.events == [
            BannerFailed(1, "plyer does not return within 0.2 s"),
            BannerFailed(2, "plyer does not return within 0.2 s"),
            BannerFailed(3, "plyer hangs"),
        ]
        await backend.stop()
    finally:
        release.set()
