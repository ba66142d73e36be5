"""org.kde.StatusNotifierItem: the icon and tooltip as an object on the session bus.

The interface is that of the StatusNotifierItem specification (freedesktop.org, "Notification Item"), with
the additions that hosts use: ProvideXdgActivationToken (Plasma) and XAyatanaSecondaryActivate (AppIndicator).
One object serves one connection to the bus.
"""

# No postponed annotations here: dbus-fast reads the D-Bus signatures from them.

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Annotated, Any

from dbus_fast import PropertyAccess
from dbus_fast.annotations import DBusBool, DBusInt32, DBusObjectPath, DBusSignature, DBusStr, DBusUInt32
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

INTERFACE = "org.kde.StatusNotifierItem"
ITEM_PATH = "/StatusNotifierItem"
MENU_PATH = "/StatusNotifierItem/Menu"
ID = "trayagent"
READ = PropertyAccess.READ

Pixmaps = Annotated[list[Any], DBusSignature("a(iiay)")]
ToolTip = Annotated[list[Any], DBusSignature("(sa(iiay)ss)")]


@dataclass(frozen=True, slots=True)
class Face:
    """What the item shows. icon: a name of icons.py; attention: somebody is needed."""

    icon: str
    attention: bool
    title: str
    tooltip: str

    @property
    def status(self) -> str:
        """The specification's word; hosts that hide quiet items show those that need attention."""
        return "NeedsAttention" if self.attention else "Active"


class Item(ServiceInterface):
    """The item's object. pixmaps: an icon's name to its pixels; on_click, on_middle: the pointer's
    buttons; on_token: an activation token for the click that follows."""

    def __init__(
        self,
        face: Face,
        pixmaps: Callable[[str], list[Any]],
        on_click: Callable[[], None],
        on_middle: Callable[[], None],
        on_token: Callable[[str], None],
    ) -> None:
        super().__init__(INTERFACE)
        self._face = face
        self._pixmaps = pixmaps
        self._on_click = on_click
        self._on_middle = on_middle
        self._on_token = on_token

    def wear(self, face: Face) -> None:
        """Show another face; signals only what differs."""
        old, self._face = self._face, face
        if face.attention != old.attention:
            self.NewStatus(face.status)
        if face.icon != old.icon:
            self.NewIcon()
            if face.attention:
                self.NewAttentionIcon()
        if face.title != old.title:
            self.NewTitle()
        if (face.title, face.tooltip) != (old.title, old.tooltip):
            self.NewToolTip()

    # -- properties --------------------------------------------------------------------------

    @dbus_property(access=READ)
    def Category(self) -> DBusStr:
        return "ApplicationStatus"

    @dbus_property(access=READ)
    def Id(self) -> DBusStr:
        return ID

    @dbus_property(access=READ)
    def Title(self) -> DBusStr:
        return self._face.title

    @dbus_property(access=READ)
    def Status(self) -> DBusStr:
        return self._face.status

    @dbus_property(access=READ)
    def WindowId(self) -> DBusInt32:
        return 0

    @dbus_property(access=READ)
    def IconName(self) -> DBusStr:
        return ""

    @dbus_property(access=READ)
    def IconThemePath(self) -> DBusStr:
        return ""

    @dbus_property(access=READ)
    def IconPixmap(self) -> Pixmaps:
        return self._pixels()

    @dbus_property(access=READ)
    def OverlayIconName(self) -> DBusStr:
        return ""

    @dbus_property(access=READ)
    def OverlayIconPixmap(self) -> Pixmaps:
        return []

    @dbus_property(access=READ)
    def AttentionIconName(self) -> DBusStr:
        return ""

    @dbus_property(access=READ)
    def AttentionIconPixmap(self) -> Pixmaps:
        return self._pixels() if self._face.attention else []

    @dbus_property(access=READ)
    def AttentionMovieName(self) -> DBusStr:
        return ""

    @dbus_property(access=READ)
    def ToolTip(self) -> ToolTip:
        """Icon name, pixmaps, title, text. The last two are markup: GTK hosts draw nothing of a bare `&`."""
        return ["", [], escape(self._face.title, quote=False), escape(self._face.tooltip, quote=False)]

    @dbus_property(access=READ)
    def ItemIsMenu(self) -> DBusBool:
        return False

    @dbus_property(access=READ)
    def Menu(self) -> DBusObjectPath:
        return MENU_PATH

    def _pixels(self) -> list[Any]:
        return [list(pixmap) for pixmap in self._pixmaps(self._face.icon)]

    # -- methods -----------------------------------------------------------------------------

    @dbus_method()
    def Activate(self, x: DBusInt32, y: DBusInt32) -> None:
        self._on_click()

    @dbus_method()
    def SecondaryActivate(self, x: DBusInt32, y: DBusInt32) -> None:
        self._on_middle()

    @dbus_method()
    def XAyatanaSecondaryActivate(self, timestamp: DBusUInt32) -> None:
        self._on_middle()

    @dbus_method()
    def ContextMenu(self, x: DBusInt32, y: DBusInt32) -> None:
        """Only hosts that draw no menus call this; there is no menu of our own to draw."""

    @dbus_method()
    def Scroll(self, delta: DBusInt32, orientation: DBusStr) -> None:
        """The wheel does nothing here."""

    @dbus_method()
    def ProvideXdgActivationToken(self, token: DBusStr) -> None:
        self._on_token(token)

    # -- signals -----------------------------------------------------------------------------

    @dbus_signal()
    def NewTitle(self) -> None:
        return None

    @dbus_signal()
    def NewIcon(self) -> None:
        return None

    @dbus_signal()
    def NewAttentionIcon(self) -> None:
        return None

    @dbus_signal()
    def NewToolTip(self) -> None:
        return None

    @dbus_signal()
    def NewStatus(self, status: str) -> DBusStr:
        return status
