"""The process that shows an icon with pystray: told what by lines of JSON, telling clicks likewise.

Started by path, with nothing of ours to import. pystray's loop has the main thread, for macOS
lets no other one show an icon; its setup thread, which pystray starts once its loop is ready, makes every
further call into it. The end of the input is the end of the icon.

In: {"icon": [width, height, base64 of RGBA], "title": text, "click": number, "menu": [row...]}, each of
them optional; a row is {"label", "number", "enabled", "toggle", "checked", "children"} or {} for a line.
Out: {"ready": {"backend": name, "click": bool}}, {"clicked": number}, {"refused": why}.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from typing import Any

REFUSED = 3
PATIENCE = 1.0  # seconds for pystray to end


def say(message: dict[str, Any]) -> None:
    """One line for the parent; it may be gone, and then the input ends as well."""
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        os._exit(0)


def menu_of(pystray: Any, rows: list[dict[str, Any]], click: int | None) -> Any:
    """pystray's menu of these rows. click: what the icon itself does, as an item that is not seen."""
    items = [pystray.MenuItem("", _tell(click), default=True, visible=False)] if click is not None else []
    return pystray.Menu(*items, *(_item(pystray, row) for row in rows))


def _item(pystray: Any, row: dict[str, Any]) -> Any:
    if not row:
        return pystray.Menu.SEPARATOR
    children = row.get("children")
    toggle, checked = row.get("toggle", ""), bool(row.get("checked"))
    return pystray.MenuItem(
        row["label"],
        menu_of(pystray, children, None) if children else _tell(row.get("number")),
        checked=(lambda item: checked) if toggle else None,
        radio=toggle == "radio",
        enabled=bool(row.get("enabled", True)),
    )


def _tell(number: int | None) -> Any:
    def told(icon: Any, item: Any) -> None:
        if number is not None:
            say({"clicked": number})

    return told


def follow(pystray: Any, icon: Any) -> None:
    """Show what the parent says, until it says nothing more."""
    say({"ready": {"backend": type(icon).__module__.rpartition("_")[2], "click": icon.HAS_DEFAULT_ACTION}})
    rows: list[dict[str, Any]] = []
    click: int | None = None
    for line in sys.stdin:
        message = json.loads(line)
        if "icon" in message:
            icon.icon = picture(*message["icon"])
        if "title" in message:
            icon.title = message["title"]
        if "menu" in message or "click" in message:
            rows, click = message.get("menu", rows), message.get("click", click)
            icon.menu = menu_of(pystray, rows, click)
        if icon.icon is not None and not icon.visible:
            icon.visible = True
    limit = threading.Timer(PATIENCE, os._exit, (0,))
    limit.daemon = True
    limit.start()
    icon.visible = False
    icon.stop()


def picture(width: int, height: int, data: str) -> Any:
    """An image of RGBA bytes; raises ValueError when they are not as many as its size needs."""
    from PIL import Image

    return Image.frombytes("RGBA", (width, height), base64.b64decode(data))


def main() -> int:
    """Run pystray's loop; REFUSED where it cannot serve."""
    try:
        import pystray
    except Exception as error:  # whatever the toolkits behind it raise
        say({"refused": f"pystray cannot serve: {error}"})
        return REFUSED
    if not pystray.Icon.HAS_MENU:
        name = pystray.Icon.__module__.rpartition("_")[2]
        say({"refused": f"pystray's backend {name} has no menus: install PyGObject with GTK 3"})
        return REFUSED
    icon = pystray.Icon("trayagent", title="trayagent", menu=pystray.Menu())
    try:
        icon.run(setup=lambda icon: follow(pystray, icon))
    except NotImplementedError:
        say({"refused": "pystray's backend here shows no icons"})
        os._exit(REFUSED)  # its setup thread waits for ever
    return 0


if __name__ == "__main__":
    sys.exit(main())
