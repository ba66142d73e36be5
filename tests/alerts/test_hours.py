"""Quiet hours by the wall clock: midnight, weekdays, summer time; and the words for an end."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.alerts.hours import instant, local, next_morning, quiet_end, until, zone_of
from trayagent.model.settings import QuietSettings, QuietSpan

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia")


def minute(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def span(start: str, end: str, days: frozenset[int] = frozenset(range(7))) -> QuietSettings:
    return QuietSettings((QuietSpan(minute(start), minute(end), days),))


def epoch(text: str, zone: str = "UTC", fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def quiet(settings: QuietSettings, moment: float, zone: str = "UTC") -> bool:
    return quiet_end(settings, moment, zone_of(zone)) is not None


@pytest.mark.parametrize(
    ("time", "held"),
    [("21:59", False), ("22:00", True), ("23:59", True), ("00:00", True), ("06:59", True), ("07:00", False)],
)
def test_a_span_over_midnight(time: str, held: bool) -> None:
    assert quiet(span("22:00", "07:00"), epoch(f"2026-03-04T{time}:00")) is held


@pytest.mark.parametrize(
    ("time", "held"), [("11:59:59", False), ("12:00:00", True), ("12:59:59.9", True), ("13:00:00", False)]
)
def test_a_span_within_a_day(time: str, held: bool) -> None:
    assert quiet(span("12:00", "13:00"), epoch(f"2026-03-04T{time}")) is held


def test_equal_ends_are_off() -> None:
    assert not any(quiet(span("08:00", "08:00"), epoch(f"2026-03-04T{hour:02}:00:00")) for hour in range(24))


@pytest.mark.parametrize(
    ("moment", "held"),
    [
        ("2026-03-04T02:00:00", False),  # the night from Tuesday to Wednesday
        ("2026-03-04T23:00:00", True),
        ("2026-03-05T02:00:00", True),
        ("2026-03-05T23:00:00", False),
    ],
)
def test_the_weekday_is_that_of_the_spans_start(moment: str, held: bool) -> None:
    wednesday = frozenset({2})
    assert quiet(span("22:00", "07:00", wednesday), epoch(moment)) is held


def test_the_end_is_that_of_the_longest_span_around_the_moment() -> None:
    both = QuietSettings((QuietSpan(22 * 60, 60), QuietSpan(23 * 60, 7 * 60)))
    assert quiet_end(both, epoch("2026-03-04T23:30:00"), zone_of("UTC")) == epoch("2026-03-05T07:00:00")


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-28", 8),  # an hour is skipped in this night
        ("Europe/Berlin", "2026-10-24", 10),  # and one comes twice in this
        ("America/New_York", "2026-03-07", 8),
        ("America/New_York", "2026-10-31", 10),
        ("Australia/Lord_Howe", "2026-10-03", 8.5),
        ("Australia/Lord_Howe", "2026-04-04", 9.5),
        ("Europe/Berlin", "2026-07-01", 9),
    ],
)
def test_a_night_ends_at_seven_by_the_clock_on_the_wall(zone: str, day: str, hours: float) -> None:
    start = epoch(f"{day}T22:00:00", zone)
    end = quiet_end(span("22:00", "07:00"), start, zone_of(zone))
    assert end is not None and (end - start) / 3600 == hours
    assert f"{local(end, zone_of(zone)):%H:%M}" == "07:00"
    assert not quiet(span("22:00", "07:00"), start - 1, zone)


@pytest.mark.parametrize(
    ("zone", "day", "skip"),
    [
        ("Europe/Berlin", "2026-03-29", "2026-03-29T01:00:00+00:00"),
        ("America/New_York", "2026-03-08", "2026-03-08T07:00:00+00:00"),
        ("Australia/Lord_Howe", "2026-10-04", "2026-10-03T15:30:00+00:00"),
    ],
)
def test_a_time_that_does_not_exist_is_the_moment_of_the_skip(zone: str, day: str, skip: str) -> None:
    moment = datetime.fromisoformat(skip).timestamp()
    assert instant(date.fromisoformat(day), minute("02:10"), zone_of(zone)) == moment
    assert not quiet(span("02:10", "05:00"), moment - 1, zone) and quiet(span("02:10", "05:00"), moment, zone)
    assert quiet(span("22:00", "02:10"), moment - 1, zone) and not quiet(span("22:00", "02:10"), moment, zone)


@pytest.mark.parametrize(
    ("zone", "moment"),
    [
        ("Europe/Berlin", "2026-10-25T02:30"),
        ("America/New_York", "2026-11-01T01:30"),
        ("Australia/Lord_Howe", "2026-04-05T01:45"),
    ],
)
def test_a_time_that_exists_twice_starts_at_the_first_and_ends_at_the_last(zone: str, moment: str) -> None:
    first, last = epoch(moment, zone, 0), epoch(moment, zone, 1)
    assert first < last
    clock = moment[11:]
    assert not quiet(span(clock, "09:00"), first - 1, zone) and quiet(span(clock, "09:00"), first, zone)
    assert quiet(span("20:00", clock), last - 1, zone) and not quiet(span("20:00", clock), last, zone)


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.frozensets(st.integers(0, 6)),
    st.sampled_from(ZONES),
)
def test_it_is_quiet_whenever_the_wall_clock_is_within_the_span(
    when: datetime, start: int, end: int, days: frozenset[int], zone: str
) -> None:
    clock = local(when.timestamp(), zone_of(zone))
    now = clock.hour * 60 + clock.minute
    if start < end:
        within = start <= now < end and clock.weekday() in days
    else:
        evening = now >= start and clock.weekday() in days
        morning = now < end and (clock.weekday() - 1) % 7 in days
        within = start > end and (evening or morning)
    settings = QuietSettings((QuietSpan(start, end, days),))
    ends = quiet_end(settings, when.timestamp(), zone_of(zone))
    if within:
        assert ends is not None and ends > when.timestamp()
        assert not quiet(settings, ends, zone) or len(days) > 1
    elif ends is not None:  # only around the hour that comes twice
        again = local(when.timestamp() + 3600, zone_of(zone)) - clock
        before = clock - local(when.timestamp() - 3600, zone_of(zone))
        assert min(again, before) < timedelta(hours=1)


@pytest.mark.parametrize("name", ["", "Europe/Nowhere", "../etc/passwd", "/etc", "Europe", "\x00"])
def test_no_zone_and_bad_zones_mean_the_systems_own(name: str) -> None:
    assert zone_of(name) is None
    assert local(0.0, None) == datetime.fromtimestamp(0.0)


@pytest.mark.parametrize(
    ("now", "morning"),
    [
        ("2026-03-04T14:00", "2026-03-05T08:00"),
        ("2026-03-04T23:30", "2026-03-05T08:00"),
        ("2026-03-05T01:00", "2026-03-05T08:00"),
        ("2026-03-05T06:00", "2026-03-06T08:00"),
        ("2026-03-28T20:00", "2026-03-29T08:00"),
    ],
)
def test_tomorrow_is_the_morning_after_the_next_night(now: str, morning: str) -> None:
    zone = "Europe/Berlin"
    assert next_morning(epoch(now, zone), zone_of(zone)) == epoch(morning, zone)


@pytest.mark.parametrize(
    ("word", "end"),
    [("30m", 1900.0), ("45 min", 2800.0), ("1h", 3700.0), ("2d", 172900.0), ("90s", 190.0), ("off", 100.0)],
)
def test_words_for_an_end(word: str, end: float) -> None:
    assert until(word, 100.0, 0.0, "UTC") == end


def test_always_has_no_end_and_tomorrow_is_local() -> None:
    assert until("always", 100.0, 0.0, "UTC") is None
    now = epoch("2026-03-04T14:00", "Europe/Berlin")
    offset = now - 100.0
    assert until("tomorrow", 100.0, offset, "Europe/Berlin") == 100.0 + 18 * 3600


@pytest.mark.parametrize("word", ["", "h", "-1h", "1.5h", "forever", "1w", "10000000h", "1h1"])
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        until(word, 0.0, 0.0, "UTC")
