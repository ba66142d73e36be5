"""The menu as com.canonical.dbusmenu sees it: numbered rows with properties, without the bus.

Theory of operation. A MenuItem is known by its id, a dbusmenu row by a number that must not change while
the row is shown: `Rows` hands out numbers, each once, to (parent, id). `update` compares the new rows with
those that the host knows, and says what must be sent: rows whose properties changed, and the parent under
which the shape (which rows, in which order) changed.

While the host shows the menu its shape is frozen, since a host closes or redraws a menu whose layout changes,
under the pointer of somebody who is about to click. Rows that stay are updated in place, rows that are gone
are greyed, new ones wait; `thaw`, when the menu closes or is about to open, catches up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from dbus_fast import Variant

from trayagent.model.view import MenuItem

log = logging.getLogger(__name__)

ROOT = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One row. properties: dbusmenu's names; action: what a click does."""

    properties: dict[str, Variant]
    children: tuple[int, ...] = ()
    action: tuple[str, ...] = ()


@dataclass(slots=True)
class Change:
    """What a host must hear. set: row to its changed properties; unset: row to names that it lost;
    parent: the row under which the shape changed, None if it did not."""

    set: dict[int, dict[str, Variant]] = field(default_factory=dict)
    unset: dict[int, list[str]] = field(default_factory=dict)
    parent: int | None = None


def _properties(item: MenuItem, icon: Callable[[str], bytes]) -> dict[str, Variant]:
    """A row's properties. Underscores are doubled, since dbusmenu marks an access key with a single one."""
    if item.separator:
        return {"type": Variant("s", "separator"), "visible": Variant("b", True)}
    found = {
        "label": Variant("s", item.label.replace("_", "__")),
        "enabled": Variant("b", item.enabled),
        "visible": Variant("b", True),
    }
    if item.toggle:
        found["toggle-type"] = Variant("s", "radio" if item.toggle == "radio" else "checkmark")
        found["toggle-state"] = Variant("i", int(item.checked))
    if item.children:
        found["children-display"] = Variant("s", "submenu")
    if item.icon:
        png = icon(item.icon)
        found |= {"icon-data": Variant("ay", png)} if png else {"icon-name": Variant("s", item.icon)}
    return found


def _form(row: Row) -> tuple[bool, bool]:
    """Whether a row is a separator, and a submenu: a row that becomes another kind changes the shape."""
    return "type" in row.properties, bool(row.children)


class Rows:
    """The rows that the host knows. icon: PNG bytes of one of our own icons, b"" if the name is a theme's."""

    def __init__(self, icon: Callable[[str], bytes] = lambda name: b"") -> None:
        self.rows: dict[int, Row] = {ROOT: Row({"children-display": Variant("s", "submenu")})}
        self.revision = 1
        self.frozen = False
        self._icon = icon
        self._numbers: dict[tuple[int, str], int] = {}
        self._made: dict[
            int, tuple[MenuItem, dict[str, Variant]]
        ] = {}  # items that stay keep their properties
        self._last = ROOT
        self._items: tuple[MenuItem, ...] = ()
        self._behind = False  # the shape that is shown is not that of _items

    @property
    def behind(self) -> bool:
        """A change of shape waits for the menu to be closed."""
        return self._behind

    def update(self, items: tuple[MenuItem, ...]) -> Change:
        """Make the menu be this; says what to send."""
        if items == self._items and not (self._behind and not self.frozen):
            return Change()
        self._items = items
        new, numbers = self._number(items)
        change = self._compare(new)
        if change.parent is not None and self.frozen:
            return self._in_place(new)
        self.rows, self._numbers, self._behind = new, numbers, False
        if change.parent is not None:
            self.revision += 1
        return change

    def thaw(self) -> Change:
        """The menu is closed: catch up with what waited."""
        self.frozen = False
        return self.update(self._items)

    def _number(self, items: tuple[MenuItem, ...]) -> tuple[dict[int, Row], dict[tuple[int, str], int]]:
        rows: dict[int, Row] = {}
        numbers: dict[tuple[int, str], int] = {}
        made: dict[int, tuple[MenuItem, dict[str, Variant]]] = {}

        def walk(parent: int, children: tuple[MenuItem, ...]) -> tuple[int, ...]:
            found = []
            for item in children:
                key = (parent, item.id)
                if key in numbers:
                    log.warning("two rows of the menu have the id %r; the second one is left out", item.id)
                    continue
                number = self._numbers.get(key)
                if number is None:
                    # Remembered at once: a row that waits for the menu to close keeps its number.
                    self._last += 1
                    number = self._numbers[key] = self._last
                numbers[key] = number
                below = walk(number, item.children)
                source, properties = self._made.get(number, (None, {}))
                if source is not item:
                    properties = _properties(item, self._icon)
                made[number] = item, properties
                rows[number] = Row(properties, below, item.action if item.enabled else ())
                found.append(number)
            return tuple(found)

        rows[ROOT] = Row({"children-display": Variant("s", "submenu")}, walk(ROOT, items))
        self._made = made
        return rows, numbers

    def _compare(self, new: dict[int, Row]) -> Change:
        change = Change()
        moved = []
        for number, row in new.items():
            old = self.rows.get(number)
            if old is None:
                continue
            if old.children != row.children or _form(old) != _form(row):
                moved.append(number)
            if old.properties is row.properties:
                continue
            if changed := {k: v for k, v in row.properties.items() if old.properties.get(k) != v}:
                change.set[number] = changed
            if lost := [name for name in old.properties if name not in row.properties]:
                change.unset[number] = lost
        if moved:
            change.parent = moved[0] if len(moved) == 1 else ROOT
        return change

    def _in_place(self, new: dict[int, Row]) -> Change:
        """Take from the new rows what leaves the shown shape as it is."""
        self._behind = True
        shown: dict[int, Row] = {}
        for number, row in self.rows.items():
            if number == ROOT:
                shown[number] = row
            elif (fresh := new.get(number)) is None:
                properties = dict(row.properties)
                if "label" in properties:
                    properties["enabled"] = Variant("b", False)
                shown[number] = Row(properties, row.children)
            elif _form(fresh) != _form(row):
                shown[number] = row
            else:
                shown[number] = Row(fresh.properties, row.children, fresh.action)
        change = self._compare(shown)
        self.rows = shown
        return change
