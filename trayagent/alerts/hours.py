"""Local time: when quiet hours end, and what `1h` or `tomorrow` means as a moment.

A span starts on a day and is an interval between two instants, found anew for
that day; so the day of the week is the one on which it started, also after
midnight, and a change to or from summer time moves neither end.

Where the local clock reads a time twice, a span starts at the first and ends at
the last of them; where it skips a time, the instant of the skip stands for it.
Thus it is quiet whenever the wall clock shows a time within the span.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from trayagent.model.settings import QuietSettings, QuietSpan

MORNING = 8 * 60  # minutes after midnight at which "until tomorrow" ends
_NIGHT = 4 * 3600.0  # a morning that is nearer than this is today's, not tomorrow's
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def zone_of(name: str) -> tzinfo | None:
    """The zone of an IANA name; None, which means the system's own, for "" and unknown names."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, malformed, or the name of a folder
        return None


def local(epoch: float, zone: tzinfo | None) -> datetime:
    """What the wall clock shows at `epoch`, without a zone."""
    return datetime.fromtimestamp(epoch, zone).replace(tzinfo=None)


def instant(day: date, minute: int, zone: tzinfo | None, *, last: bool = False) -> float:
    """Epoch seconds at which the wall clock shows `minute` minutes after midnight of `day`.

    last: the second one where it is shown twice. Where it is never shown: the moment of the skip."""
    shown = datetime.combine(day, time()) + timedelta(minutes=minute)
    first, second = (shown.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    if first <= second:
        return second if last else first
    before, after = int(second), int(first)
    while after - before > 1:
        middle = (before + after) // 2
        if local(middle, zone) < shown:
            before = middle
        else:
            after = middle
    return float(after)


def quiet_end(quiet: QuietSettings, epoch: float, zone: tzinfo | None) -> float | None:
    """Epoch seconds at which the quiet hours around `epoch` end, None outside of them.

    Asked for each held case after every event, so a second is answered once."""
    return _quiet_end(quiet, math.floor(epoch), zone)  # spans begin and end with whole seconds


@lru_cache(maxsize=4)
def _quiet_end(quiet: QuietSettings, epoch: int, zone: tzinfo | None) -> float | None:
    today = local(epoch, zone).date()
    ends = []
    for day in (today - timedelta(days=1), today):
        for span in quiet.spans:
            start, end = _bounds(span, day, zone)
            if day.weekday() in span.days and start <= epoch < end:
                ends.append(end)
    return max(ends, default=None)


def quiet_start(quiet: QuietSettings, epoch: float, zone: tzinfo | None) -> float | None:
    """Epoch seconds at which the next quiet hours begin, None if none ever do."""
    today = local(epoch, zone).date()
    days = [today + timedelta(days=ahead) for ahead in range(8)]
    bounds = [_bounds(span, day, zone) for day in days for span in quiet.spans if day.weekday() in span.days]
    return min((start for start, end in bounds if epoch < start < end), default=None)


def _bounds(span: QuietSpan, day: date, zone: tzinfo | None) -> tuple[float, float]:
    """The span that starts on `day`; empty when its ends are equal."""
    start = instant(day, span.start, zone)
    if span.start == span.end:
        return start, start
    until = day if span.end > span.start else day + timedelta(days=1)
    return start, instant(until, span.end, zone, last=True)


def next_morning(epoch: float, zone: tzinfo | None) -> float:
    """Epoch seconds of the next 8 in the morning that lies beyond a night (4 h at least)."""
    day = local(epoch, zone).date()
    while (morning := instant(day, MORNING, zone)) - epoch < _NIGHT:
        day += timedelta(days=1)
    return morning


def until(word: str, now: float, wall_offset: float, zone: str) -> float | None:
    """The end, in engine seconds, of a mute or pause that is set now.

    word: `30m`, `1h`, `2 d` ...; `tomorrow`; `always` (None: no end); `off` (it has ended).
    Raises ValueError for anything else."""
    if word == "always":
        return None
    if word == "off":
        return now
    if word == "tomorrow":
        return next_morning(now + wall_offset, zone_of(zone)) - wall_offset
    match = re.fullmatch(r"(\d{1,6}) ?(s|m|min|h|d)", word.strip())
    if match is None:
        raise ValueError(f"not a duration: {word!r} (30m, 1h, 2d, tomorrow, always, off)")
    return now + int(match[1]) * _UNITS[match[2]]
