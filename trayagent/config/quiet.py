"""Quiet hours and standing mutes as they are written in the config."""

from __future__ import annotations

import re
from typing import Any

from trayagent.config.nodes import Mapping, Node, Scalar, resolved
from trayagent.config.problems import did_you_mean
from trayagent.config.values import Reading, Text, Value, ValueProblem, items, quote, scalar
from trayagent.model.settings import MuteRule, QuietSpan

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ALL = frozenset(range(7))
_GROUPS = {
    "daily": _ALL, "everyday": _ALL, "all": _ALL,
    "weekdays": frozenset(range(5)), "weekends": frozenset({5, 6}), "weekend": frozenset({5, 6}),
}  # fmt: skip
_LONG = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)|(24):00")
_SPAN = re.compile(
    r"(?:(?P<days>[a-z][a-z, -]*?)\s+)?(?P<start>\d[\d:]*)\s*(?:-|–|to)\s*(?P<end>\d[\d:]*)", re.I
)


class QuietSpans(Value):
    """Spans of local time: `mon-fri 22:00-07:00`, or `{days: mon-fri, from: 22:00, to: 07:00}`."""

    form = "22:00-07:00, or a list of such spans or of {days: mon-fri, from: 22:00, to: 07:00}"

    def read(self, node: Node, reading: Reading) -> tuple[QuietSpan, ...]:
        target = resolved(node)
        if isinstance(target, Scalar) and target.text.lower() in {"off", "no", "false"}:
            return ()
        return tuple(self._span(item, reading) for item in items(node))

    def _span(self, node: Node, reading: Reading) -> QuietSpan:
        target = resolved(node)
        span = self._mapped(target, reading) if isinstance(target, Mapping) else self._written(node)
        if span.start == span.end:
            reading.warnings.append((node, f"begins and ends at {clock(span.start)}, which switches it off"))
        return span

    def _written(self, node: Node) -> QuietSpan:
        text = scalar(node, self.form).text.strip()
        match = _SPAN.fullmatch(text)
        if match is None:
            raise ValueProblem(node, f"{text!r} is no span of time; write 22:00-07:00 or mon-fri 22:00-07:00")
        days = _days(match["days"], node) if match["days"] else _ALL
        return QuietSpan(_minute(match["start"], node), _minute(match["end"], node), days)

    def _mapped(self, target: Mapping, reading: Reading) -> QuietSpan:
        entries = reading.merger.entries(target)
        for name, (key, _) in entries.items():
            if name not in ("days", "from", "to"):
                near = did_you_mean(name, ("days", "from", "to"))
                raise ValueProblem(key, f"{name!r} is not one of days, from, to{near}")
        for name in ("from", "to"):
            if name not in entries:
                raise ValueProblem(target, f"a quiet span needs {name!r}, such as {name}: 22:00")
        start, end = (
            _minute(scalar(entries[name][1], "a time").text, entries[name][1]) for name in ("from", "to")
        )
        days = frozenset[int]()
        if "days" in entries:
            for item in items(entries["days"][1]):
                days |= _days(scalar(item, "days such as mon-fri").text, item)
        return QuietSpan(start, end, days or _ALL)

    def example(self, value: tuple[QuietSpan, ...]) -> str:
        return "[" + ", ".join(quote(span_text(span)) for span in value) + "]"


def span_text(span: QuietSpan) -> str:
    """The span as it is written: `mon,tue 22:00-07:00`."""
    days = "" if span.days == _ALL else ",".join(DAYS[day] for day in sorted(span.days)) + " "
    return f"{days}{clock(span.start)}-{clock(span.end)}"


def clock(minute: int) -> str:
    """Minutes after midnight as `22:00`."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _minute(text: str, node: Node) -> int:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        hint = f"; minutes since midnight? that would be {clock(int(text))}" if _minutes(text) else ""
        raise ValueProblem(node, f"{text!r} is no time; write 22:00{hint}")
    return 0 if match[3] else int(match[1]) * 60 + int(match[2])


def _minutes(text: str) -> bool:
    return text.isascii() and text.isdigit() and 24 <= int(text) < 1440


def _days(text: str, node: Node) -> frozenset[int]:
    found = frozenset[int]()
    for part in text.lower().replace(",", " ").replace(" - ", "-").split():
        if part in _GROUPS:
            found |= _GROUPS[part]
            continue
        first, dash, last = part.partition("-")
        start = _day(first, node)
        end = _day(last, node) if dash else start
        found |= {(start + step) % 7 for step in range((end - start) % 7 + 1)}
    return found


def _day(text: str, node: Node) -> int:
    for number, (short, long) in enumerate(zip(DAYS, _LONG, strict=True)):
        if text == short or (len(text) > 3 and long.startswith(text)):
            return number
    known = (*DAYS, *_GROUPS)
    raise ValueProblem(node, f"{text!r} is no day; write mon-fri, sat or weekends{did_you_mean(text, known)}")


class Mutes(Value):
    """What is never told: a list of `{project: NAME}`, `{agent: ID}`, `{session: NAME}`."""

    form = "a list of {project: NAME}, {agent: ID} or {session: NAME}"
    _SCOPES = ("project", "agent", "session")

    def read(self, node: Node, reading: Reading) -> tuple[MuteRule, ...]:
        rules: list[MuteRule] = []
        for item in items(node):
            target: Any = resolved(item)
            if not isinstance(target, Mapping):
                raise ValueProblem(item, f"takes {self.form}")
            for scope, (key, value) in reading.merger.entries(target).items():
                if scope not in self._SCOPES:
                    near = did_you_mean(scope, self._SCOPES)
                    raise ValueProblem(key, f"{scope!r} is not one of {', '.join(self._SCOPES)}{near}")
                rules += [MuteRule(scope, Text().read(one, reading)) for one in items(value)]
        return tuple(rules)

    def example(self, value: tuple[MuteRule, ...]) -> str:
        return "[" + ", ".join(f"{{{rule.scope}: {quote(rule.value)}}}" for rule in value) + "]"
