"""The last guard over text on its way to a banner.

The engine has already cut, masked and cleaned what it sends. A banner is the place
where text that others wrote meets a markup parser and a bidi renderer, so the few
rules that must never be missed are applied here again.
"""

from __future__ import annotations

import re

LONGEST_TITLE = 200  # characters
LONGEST_BODY = 1000

# C0 without newline, DEL, C1; the bidi controls of Unicode UAX 9; the byte order mark; halves of
# surrogate pairs, which cannot be sent as UTF-8.
_UNWANTED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_BREAKS = re.compile("\r\n|[\r\u2028\u2029]")
_TRADE = {"\t": " "}


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _clean(text: str) -> str:
    return _UNWANTED.sub(lambda match: _TRADE.get(match[0], ""), _BREAKS.sub("\n", text))


def title(text: str, longest: int = LONGEST_TITLE) -> str:
    """One line of plain text, which no server reads as markup (Desktop Notifications Specification)."""
    return _cut(" ".join(_clean(text).split()), longest)


def body(text: str, longest: int = LONGEST_BODY) -> str:
    """Plain text with line breaks."""
    return _cut(_clean(text).strip("\n"), longest)


def escaped(text: str) -> str:
    """Plain text as the body of a server that advertises `body-markup`. The quotes stay: outside
    of attributes they are plain, and not every server knows their entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
