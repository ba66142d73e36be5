"""Which faces the settings give, and what is told of an icon that nobody draws."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.desktop import Desktop
from trayagent.daemon.faces import Faces
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.tray import sni
from trayagent.desktop.tray.pystray_ import PystrayTray
from trayagent.desktop.tray.sni import SniTray
from trayagent.model.settings import NotifySettings, Settings, TraySettings


class FakeParts:
    """What faces need of the daemon."""

    def __init__(self, backend: str, environ: dict[str, str] | None = None) -> None:
        self.bus = SessionBus(environ=environ or {})
        self.options = SimpleNamespace(tray=True)
        self.settings = Settings(tray=TraySettings(backend=backend), notify=NotifySettings(backend="off"))
        self.reports: list[str] = []
        self.told: list[tuple[str, str]] = []
        self.heard = asyncio.Event()
        errands = SimpleNamespace(tell=self.tell)
        self.actions = SimpleNamespace(errands=errands, act=lambda *action: None)
        self.feed = self.pressed = lambda *event: None

    def tell(self, title: str, body: str) -> None:
        self.told.append((title, body))
        self.heard.set()

    def report(self, topic: str, text: str) -> None:
        self.reports.append(text)


@pytest.fixture
def bus() -> Iterator[Desktop]:
    """A session bus on which nobody draws icons."""
    with Desktop(screen=False) as desktop:
        yield desktop


@pytest.mark.parametrize(
    ("backend", "kind"), [("sni", SniTray), ("pystray", PystrayTray), ("off", type(None))]
)
def test_the_tray_is_the_one_of_the_setting(backend: str, kind: type) -> None:
    parts: Any = FakeParts(backend)
    assert type(Faces(parts).tray) is kind


async def test_an_icon_that_nobody_draws_is_told_by_one_banner_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, bus: Desktop
) -> None:
    defaults = {**SniTray.__init__.__kwdefaults__, "patience": 0.05}
    monkeypatch.setattr(SniTray.__init__, "__kwdefaults__", defaults)
    parts: Any = FakeParts("sni", bus.env)
    faces = Faces(parts)
    parts.bus.start()
    await faces.start()
    await asyncio.wait_for(parts.heard.wait(), 20)
    await asyncio.sleep(0.3)
    ((title, body),) = parts.told
    assert title == "trayagent has no place for its icon"
    assert any(remedy in body for remedy in (sni.REMEDY, *sni.REMEDIES.values()))
    assert parts.reports == [body]
    await faces.close()
    await parts.bus.close()
