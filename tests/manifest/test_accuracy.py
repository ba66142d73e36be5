"""No figure of docs/accuracy.md falls; the page says what was measured."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.accuracy import (
    PAGE,
    Figures,
    Foreign,
    fallen,
    foreign_fallen,
    measure,
    page,
    stored,
    total,
)
from trayagent.manifest.load import Library


def test_no_figure_is_below_the_stored_one(library: Library) -> None:
    figures, foreign = measure(library)
    before, foreign_before = stored()
    assert fallen(figures, before) + foreign_fallen(foreign, foreign_before) == []


def test_the_page_holds_the_stored_figures() -> None:
    assert PAGE.read_text("utf-8") == page(*stored())


def test_every_agent_with_recordings_has_figures(library: Library) -> None:
    figures, _ = stored()
    assert {name for name in figures if figures[name].asked == 0} == set()
    assert total(figures).asked > 500


GOOD = Figures(10, 9, 8, 4, 4, 0, 2, 1, 1, {"80": [4, 5], "120": [5, 5]})


@pytest.mark.parametrize(
    "change",
    [
        {"right": 8},
        {"untitled": 7},
        {"blocked_found": 3},
        {"false_blocked": 1},
        {"errors_told": 0},
        {"widths": {"80": [3, 5], "120": [5, 5]}},
        {"widths": {"120": [5, 5]}},
        {"asked": 20, "right": 17, "untitled": 16},
    ],
)
def test_each_figure_that_falls_is_told(change: dict[str, object]) -> None:
    worse = dataclasses.replace(GOOD, **change)  # type: ignore[arg-type]
    assert len(fallen({"demo": worse}, {"demo": GOOD})) == 1


def test_what_stays_or_rises_is_no_fall() -> None:
    better = dataclasses.replace(GOOD, right=10, false_blocked=0, widths={**GOOD.widths, "60": [0, 3]})
    assert fallen({"demo": GOOD, "new": GOOD}, {"demo": GOOD}) == []
    assert fallen({"demo": better}, {"demo": GOOD}) == []
    assert fallen({}, {"demo": GOOD}) == ["demo: has no figures any more"]
    assert foreign_fallen(Foreign(100, 1), Foreign(100, 1)) == []
    assert foreign_fallen(Foreign(100, 2), Foreign(100, 1)) != []
