"""The Program Status Protocol, OSC 7501: `7501;key=value:key=value…`.

| key        | value                                                                    |
| ---------- | ------------------------------------------------------------------------ |
| `state`    | idle working done blocked error clear                                    |
| `kind`     | permission question auth; of blocked only                                |
| `progress` | 0-100; of working and blocked only                                       |
| `app`      | up to 32 of `A-Za-z0-9_.+-`                                              |
| `id`       | a path of up to 8 segments of up to 32, 128 bytes in all; none: the root |
| `title`    | base64 of UTF-8, 192 bytes at most                                       |
| `msg`      | base64 of UTF-8, 2048 bytes at most                                      |

A malformed pair is skipped and unknown keys are; the last of duplicates counts. A broken limit,
bad base64, text that is no UTF-8 or has control characters, and a bad id drop the report.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from dataclasses import dataclass

from trayagent.model.states import Kind, State

PREFIX = b"7501;"
LONGEST = 4096  # bytes of the payload
MOST = 256  # records of one terminal; the one that was told longest ago gives way
CLEAR = "clear"

_PAIR = re.compile(r"([a-z]{1,16})=([A-Za-z0-9_.,+/=-]*)")
_APP = re.compile(r"[A-Za-z0-9_.+-]{1,32}")
_ID = re.compile(r"[A-Za-z0-9_.+-]{1,32}(?:/[A-Za-z0-9_.+-]{1,32}){0,7}")
_LONGEST_ID = 128
_TEXTS = {"title": (256, 192), "msg": (2732, 2048)}  # bytes encoded, decoded
_STATES = {
    "idle": State.IDLE,
    "working": State.WORKING,
    "done": State.DONE,
    "blocked": State.BLOCKED,
    "error": State.ERROR,
}
_KINDS = {"permission": Kind.PERMISSION, "question": Kind.QUESTION, "auth": Kind.AUTH}
# Not controls (these drop the report): direction marks and invisible characters, and what no text has.
_INVISIBLE = frozenset({"Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Report:
    """One report, which replaces its record whole. state None: it clears the record and those
    below it, all for the root. progress: percent, None if not told."""

    state: State | None
    id: str = ""
    app: str = ""
    kind: Kind | None = None
    progress: int | None = None
    title: str = ""
    message: str = ""


def read(body: bytes) -> Report | None:
    """Of an OSC's body; None if it is another OSC, a query, or must be dropped."""
    payload = body[len(PREFIX) :]
    if not body.startswith(PREFIX) or payload.startswith(b"?") or len(payload) > LONGEST:
        return None
    pairs = (_PAIR.fullmatch(pair) for pair in payload.decode("latin-1").split(":"))
    values = {pair[1]: pair[2] for pair in pairs if pair is not None}
    state, path, app = values.get("state", ""), values.get("id", ""), values.get("app", "")
    if state != CLEAR and state not in _STATES:
        return None
    if path and (len(path) > _LONGEST_ID or _ID.fullmatch(path) is None):
        return None
    if app and _APP.fullmatch(app) is None:
        return None
    try:
        title, message = (_text(values.get(key, ""), *_TEXTS[key]) for key in ("title", "msg"))
    except ValueError:
        return None
    if state == CLEAR:
        return Report(None, path)
    kind = _KINDS.get(values.get("kind", "")) if state == "blocked" else None
    progress = _percent(values.get("progress", "")) if state in ("working", "blocked") else None
    return Report(_STATES[state], path, app, kind, progress, title, message)


def _percent(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) <= 3 and int(value) <= 100 else None


def _text(value: str, encoded: int, decoded: int) -> str:
    """Raises ValueError for what drops the report."""
    data = base64.b64decode(value, validate=True)
    if len(value) > encoded or len(data) > decoded:
        raise ValueError("too long")
    text = data.decode()
    kinds = [unicodedata.category(char) for char in text]
    if "Cc" in kinds:
        raise ValueError("a control character")
    return "".join(char for char, kind in zip(text, kinds, strict=True) if kind not in _INVISIBLE)
