"""Reads asciinema recordings, version 2 and 3, within fixed limits.

A recording is text: one JSON object (the header), then one JSON array `[time, code, data]` a
line. Version 2 counts time from the start, version 3 from the event before and allows comments.
Sources: https://docs.asciinema.org/manual/asciicast/v2/ and .../v3/.

A recording may come from anywhere, so that everything is bounded and each refusal names its
line. The one fault that is forgiven is a last line cut short, as a recorder that was killed
leaves it: the recording then ends there, and `truncated` says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 128 * 1024 * 1024
MAX_LINE = 8 * 1024 * 1024
MAX_EVENTS = 2_000_000
MAX_CELLS = 500  # columns, and rows
DAY = 86_400.0


class CastError(ValueError):
    """The file is no usable recording; the message names file, line and fault."""


@dataclass(frozen=True, slots=True)
class CastEvent:
    """One event. at: seconds since the recording began, never falling. code: `o` output,
    `i` input, `r` resize (data `COLSxROWS`), `m` marker, `x` exit (data: the status)."""

    at: float
    code: str
    data: str

    @property
    def raw(self) -> bytes:
        """The bytes that went through the terminal."""
        return self.data.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Cast:
    """A recording. cols, rows: size at its start. command, title: as recorded, often empty."""

    cols: int
    rows: int
    events: tuple[CastEvent, ...]
    command: str = ""
    title: str = ""
    truncated: bool = False

    @property
    def duration(self) -> float:
        """Seconds from the start to the last event."""
        return self.events[-1].at if self.events else 0.0


def read_cast(path: Path) -> Cast:
    """Read a recording. Raises CastError if it is none or exceeds a limit, OSError if unreadable."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise CastError(f"{path}: larger than {MAX_BYTES // 2**20} MiB")
    return parse_cast(data, str(path))


def parse_cast(data: bytes, name: str = "recording") -> Cast:
    """The recording in `data`; `name` is put before each error's text. Raises CastError."""
    head, _, body = data.partition(b"\n")
    header = _json(head, f"{name}:1")
    if not isinstance(header, dict):
        raise CastError(f"{name}:1: the header is no JSON object")
    version = header.get("version")
    if version not in (2, 3):
        raise CastError(f"{name}:1: asciicast version {version!r}; versions 2 and 3 are read")
    term = header.get("term") if version == 3 else None
    size = (term.get("cols"), term.get("rows")) if isinstance(term, dict) else _pair(header)
    cols, rows = checked_size(size, f"{name}:1")
    events, truncated = _events(body.split(b"\n"), name, relative=version == 3)
    return Cast(cols, rows, events, _text(header, "command"), _text(header, "title"), truncated)


def checked_size(size: tuple[object, object], place: str = "recording") -> tuple[int, int]:
    """(columns, rows) if both are whole numbers from 1 to MAX_CELLS. Raises CastError."""
    cols, rows = size
    if type(cols) is int and type(rows) is int and 0 < cols <= MAX_CELLS and 0 < rows <= MAX_CELLS:
        return cols, rows
    raise CastError(f"{place}: a terminal of {cols!r} columns and {rows!r} rows")


def resized(event: CastEvent) -> tuple[int, int]:
    """The new (columns, rows) of an `r` event. Raises CastError."""
    cols, _, rows = event.data.partition("x")
    if not (cols.isdecimal() and rows.isdecimal()):
        raise CastError(f"at {event.at:.3f} s: a resize to {event.data[:40]!r}")
    return checked_size((int(cols), int(rows)), f"at {event.at:.3f} s")


def _events(lines: list[bytes], name: str, *, relative: bool) -> tuple[tuple[CastEvent, ...], bool]:
    """The events, and whether the last line was cut short."""
    events: list[CastEvent] = []
    now = 0.0
    for number, line in enumerate(lines, 2):
        if not line.strip() or (relative and line.startswith(b"#")):
            continue
        if len(events) >= MAX_EVENTS:
            raise CastError(f"{name}:{number}: more than {MAX_EVENTS} events")
        place = f"{name}:{number}"
        try:
            time, code, text = _event(line, place)
        except CastError:
            if number == len(lines) + 1:  # what follows the last newline
                return tuple(events), True
            raise
        now = now + time if relative else max(now, time)
        if now > DAY:
            raise CastError(f"{place}: later than a day after the start")
        events.append(CastEvent(now, code, text))
    return tuple(events), False


def _event(line: bytes, place: str) -> tuple[float, str, str]:
    """One event line, checked."""
    match _json(line, place):
        case [int() | float() as time, str() as code, str() as text] if not isinstance(time, bool):
            if 0 <= time <= DAY:
                return float(time), code, text
    raise CastError(f"{place}: no event [seconds, code, text]")


def _json(line: bytes, place: str) -> object:
    """The JSON value of one line."""
    if len(line) > MAX_LINE:
        raise CastError(f"{place}: a line of more than {MAX_LINE // 2**20} MiB")
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CastError(f"{place}: {error or 'nested too deeply'}") from error
    return value


def _pair(header: dict[str, object]) -> tuple[object, object]:
    """The size as version 2 gives it."""
    return header.get("width"), header.get("height")


def _text(header: dict[str, object], key: str) -> str:
    """A text of the header, "" if it is missing or something else."""
    value = header.get(key)
    return value if isinstance(value, str) else ""
