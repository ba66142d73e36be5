"""What a backend for banners is.

Theory of operation. The engine's effects `Banner` and `CloseBanner` go in and return at
once; what became of them comes out as events. For each banner there is exactly one
BannerShown or BannerFailed, except that a server which was too slow to be believed may
still show it: then BannerShown follows BannerFailed. After BannerShown there is at most
one BannerClosed. Clicks go to `on_action`. No method blocks, and none raises for a
server that is missing, slow, or refuses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerClosed, BannerFailed, BannerShown

BannerEvent = BannerShown | BannerFailed | BannerClosed
Emit = Callable[[BannerEvent], None]
OnAction = Callable[[int, str, str | None], None]
"""Called with (alert, action key, activation token or None) when the person presses something."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What banners can do here. server: name and version, "" while nobody has been asked.

    actions: buttons and clicks are told. markup: the server reads the body as markup.
    close: a banner can be taken back. persistence: it stays in a list after it went."""

    server: str = ""
    actions: bool = False
    markup: bool = False
    close: bool = False
    persistence: bool = False


class Notifier(ABC):
    """One way to show banners."""

    name = ""

    def __init__(self, emit: Emit, on_action: OnAction) -> None:
        self._emit = emit
        self._on_action = on_action

    def start(self) -> None:  # noqa: B027 (a backend without anything to start is fine)
        """Begin to listen; needs a running loop."""

    @abstractmethod
    def show(self, banner: Banner) -> None:
        """Show a banner. Every older banner whose panes are all among this one's is closed,
        so that a new event is always seen to come up."""

    @abstractmethod
    def close(self, effect: CloseBanner) -> None:
        """Take a banner back, if it is still there."""

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What is known at this moment."""

    def problems(self) -> tuple[str, ...]:
        """What is wrong now, as sentences for `doctor`."""
        return ()

    async def stop(self) -> None:  # noqa: B027
        """Take back what is open (nobody would hear its clicks) and end; at most a second."""


class NoNotifier(Notifier):
    """The backend `off`: every banner fails, which keeps its item unread."""

    name = "off"

    def show(self, banner: Banner) -> None:
        """Report the banner as failed."""
        self._emit(BannerFailed(banner.alert, "banners are switched off (notify.backend)"))

    def close(self, effect: CloseBanner) -> None:
        """There is nothing to close."""

    @property
    def capabilities(self) -> Capabilities:
        """None at all."""
        return Capabilities()
