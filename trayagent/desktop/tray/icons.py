"""The tray's icons as pixels, read from files that icons/render.py has drawn; no image library is involved.

`THEME.pack`: one line of JSON, {"sizes": [16, ...], "icons": {name: [offset, length]}}; then, from the end of
that line on, one zlib blob for each icon: a palette of 256 ARGB entries (4 bytes each), then for each
size in turn one byte for each pixel. A blob is read when it is first needed and the last few are kept,
so memory holds only icons that are in use (46 KB each, all sizes together).
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import OrderedDict
from pathlib import Path

from trayagent.model.states import NEEDS_YOU, State
from trayagent.model.view import TrayView
from trayagent.resources import folder

log = logging.getLogger(__name__)

THEMES = ("neutral", "light", "dark")
KEPT = 4

# (width, height, ARGB32 pixels in network byte order), as in StatusNotifierItem's IconPixmap.
Pixmap = tuple[int, int, bytes]


def icon_name(view: TrayView) -> str:
    """The name of a view's icon: `working`, `blocked-2`, `error-9+`, `paused-1`.

    Somebody who is needed is never hidden behind a calm icon: a number makes any calm state blocked."""
    number = "" if view.count <= 0 else "-9+" if view.count > 9 else f"-{view.count}"
    if view.paused:
        return f"paused{number}"
    state = view.state
    if number and state not in NEEDS_YOU:
        state = State.BLOCKED
    return f"{state.value}{number}"


class Icons:
    """The icons of one theme. where: the folder of the packs, the program's own by default.

    A theme that cannot be read is told once, and gives no pixmaps."""

    def __init__(self, theme: str = "neutral", where: Path | None = None) -> None:
        self._theme = theme if theme in THEMES else "neutral"
        self._where = where
        self._sizes: tuple[int, ...] = ()
        self._index: dict[str, tuple[int, int]] | None = None
        self._start = 0
        self._kept: OrderedDict[str, list[Pixmap]] = OrderedDict()

    def pixmaps(self, name: str) -> list[Pixmap]:
        """An icon at every size, smallest first; empty if there is none of that name."""
        if (found := self._kept.get(name)) is not None:
            self._kept.move_to_end(name)
            return found
        try:
            found = self._read(name)
        except (OSError, ValueError, KeyError, zlib.error) as error:
            log.warning("the tray icon %s of theme %s cannot be read: %s", name, self._theme, error)
            found = []
        self._kept[name] = found
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    def png(self, name: str, size: int = 16) -> bytes:
        """The PNG file of a state's icon for a menu row or a banner, b"" if there is none."""
        path = (self._where or folder("icons")) / f"hicolor/{size}x{size}/status/trayagent-{name}.png"
        return path.read_bytes() if path.is_file() else b""

    def _read(self, name: str) -> list[Pixmap]:
        with ((self._where or folder("icons")) / f"{self._theme}.pack").open("rb") as pack:
            if self._index is None:
                line = pack.readline()
                header = json.loads(line)
                self._sizes, self._start = tuple(header["sizes"]), len(line)
                self._index = {key: (place[0], place[1]) for key, place in header["icons"].items()}
            offset, length = self._index[name]
            pack.seek(self._start + offset)
            return self._unpack(zlib.decompress(pack.read(length)))

    def _unpack(self, blob: bytes) -> list[Pixmap]:
        palette = [blob[place : place + 4] for place in range(0, 1024, 4)]
        found, place = [], 1024
        for size in self._sizes:
            indexes = blob[place : place + size * size]
            found.append((size, size, b"".join(map(palette.__getitem__, indexes))))
            place += size * size
        return found
