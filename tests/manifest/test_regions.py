"""Which rows each region takes, and what it is without its anchor."""

from __future__ import annotations

import pytest

from trayagent.manifest.format import Border, Missing, Region, Source
from trayagent.manifest.native import RegionRefused, parse_region
from trayagent.manifest.regions import View
from trayagent.model.panes import Screen


def cut(region: str | Region, text: str, **screen: str) -> str:
    asked = parse_region(region) if isinstance(region, str) else region
    return View(Screen(text, **screen)).slice(asked).text


BOX = "said\n\n────────\n❯ typed\nmore\n─── name ──\n  footer\n"
CODEX = "• first\n\n› asked\n\n• answer\n  rest\n\n› typed\n\n  footer\n"


@pytest.mark.parametrize(
    ("region", "text", "expected"),
    [
        ("whole_recent", "a\n\nb\n", "a\n\nb"),
        ("bottom_lines(2)", "a\nb\n\n", "b\n"),
        ("bottom_lines(9)", "a\nb\n", "a\nb"),
        ("bottom_lines(0)", "a\nb\n", ""),
        ("bottom_non_empty_lines(2)", "a\nb\n\nc\n\n", "b\n\nc\n"),
        ("bottom_non_empty_lines(2)", "a\nb\n\u00a0\nc\n", "b\n\u00a0\nc"),
        ("bottom_non_empty_lines(9)", "\na\nb\n", "\na\nb"),
        ("bottom_non_empty_lines(0)", "a\nb\n", ""),
        ("top_non_empty_lines(2)", "\na\n\nb\nc\n", "\na\n\nb"),
        ("top_non_empty_lines(9)", "a\n\n", "a\n"),
        ("prompt_box_body", BOX, "❯ typed\nmore"),
        ("above_prompt_box", BOX, "said\n"),
        ("last_non_empty_above_prompt_box", BOX, "said"),
        ("after_last_horizontal_rule", BOX, "  footer"),
        ("prompt_box_body", "one\n────\nrule", ""),
        ("above_prompt_box", "one\n────\nrule", "one\n────\nrule"),
        ("last_non_empty_above_prompt_box", "one\ntwo\n\n", "two"),
        ("after_last_horizontal_rule", "no rule\nhere", "no rule\nhere"),
        ("after_last_prompt_marker", CODEX, "\n  footer"),
        ("after_last_prompt_marker", "none\n", "none"),
        ("before_current_prompt_marker", CODEX, "• first\n\n› asked\n\n• answer\n  rest\n"),
        ("before_current_prompt_marker", "› asked\n• answer\n", "› asked\n• answer"),
        ("whole_recent_without_current_prompt_marker", CODEX, ""),
        ("whole_recent_without_current_prompt_marker", "› asked\n• answer\n", "› asked\n• answer"),
        ("current_prompt_block_marker", CODEX, "• answer"),
        ("current_prompt_block_marker", "› typed\n", ""),
        ("after_current_prompt_block_marker", CODEX, "• answer\n  rest\n\n› typed\n\n  footer"),
        ("after_current_prompt_block_marker", "x\n", ""),
    ],
)
def test_a_region_takes_these_rows(region: str, text: str, expected: str) -> None:
    assert cut(region, text) == expected


@pytest.mark.parametrize(
    ("row", "is_rule"),
    [
        ("─", True),
        ("  ──  ", True),
        ("─── name ──", True),
        ("── name", False),
        ("╭───╮", False),
        ("text ───", False),
        ("╌╌╌╌", False),
        ("---", False),
    ],
)
def test_a_horizontal_rule(row: str, is_rule: bool) -> None:
    assert (cut("after_last_horizontal_rule", f"above\n{row}\nbelow") == "below") is is_rule


@pytest.mark.parametrize(("row", "marks"), [("›", True), ("› x", True), ("›x", False), (" › x", False)])
def test_a_prompt_marker(row: str, marks: bool) -> None:
    assert (cut("after_last_prompt_marker", f"above\n{row}\nbelow") == "below") is marks


def test_title_and_progress_are_regions_of_their_own() -> None:
    assert cut("osc_title", "screen", title="⠹ work") == "⠹ work"
    assert cut("osc_progress", "screen", progress="4;3;") == "4;3;"
    assert cut("osc_title", "screen") == ""


@pytest.mark.parametrize(
    "name",
    [
        "nonsense",
        "bottom_lines",
        "bottom_lines(x)",
        "bottom_lines(-1)",
        "bottom_lines(2",
        "top_non_empty_lines(0)",
        "top_non_empty_lines(01)",
        "top_non_empty_lines(+1)",
        "top_non_empty_lines(65536)",
        "osc_title(1)",
    ],
)
def test_an_unknown_region_is_refused(name: str) -> None:
    with pytest.raises(RegionRefused):
        parse_region(name)


def test_equal_names_are_one_region_and_one_slice() -> None:
    view = View(Screen("a\nb"))
    assert view.slice(parse_region("bottom_lines(1)")) is view.slice(parse_region("bottom_lines(1)"))


def test_the_screen_is_bounded_from_the_bottom() -> None:
    rows = (
        View(Screen("\n".join(f"{at} " + "x" * 2000 for at in range(200))))
        .slice(parse_region("whole_recent"))
        .rows
    )
    assert len(rows) == 64
    assert rows[0].startswith(b"136 ")
    assert max(map(len, rows)) == 1000


def test_columns_are_counted_in_characters() -> None:
    text = cut("whole_recent", "─" * 1500)
    assert text == "─" * 1000


@pytest.mark.parametrize(
    ("region", "text", "expected"),
    [
        (Region("after_last_prompt_marker", missing=Missing.EMPTY), "none", ""),
        (Region("after_last_prompt_marker", trimmed=True), "a\n  › x\nb", "b"),
        (Region("last_prompt_marker", missing=Missing.EMPTY), "a\n› x\nb", "› x"),
        (Region("bottom_non_empty_lines", 2, blanks=False), "a\n\nb\n\nc\n", "b\nc"),
        (Region("bottom_non_empty_lines", 3, blanks=False, window=2), "a\nb\nc", "b\nc"),
        (Region("whole", tail=2, blanks=False), "a\nb\n\nc\n", "b\nc"),
        (Region("prompt_box_body", border=Border.BAR), "a\n╭───╮\nb\n╰━━━╯\nc", "b"),
        (Region("prompt_box_body", border=Border.CORNERS, bare=True), "a\n╭──╮\n│ b │\n╰──╯\nc", "b"),
        (Region("after_last_border", border=Border.TEN), "a\n==========\nb", "b"),
        (Region("after_last_border", border=Border.TEN), "a\n╭─────────╮\nb", "a\n╭─────────╮\nb"),
        (Region("last_non_empty"), "a\nb\n\n", "b"),
    ],
)
def test_what_other_dialects_mean_by_a_region(region: Region, text: str, expected: str) -> None:
    assert cut(region, text) == expected


def test_a_region_without_its_anchor_may_forbid_the_rule() -> None:
    view = View(Screen("no box"))
    assert not view.slice(Region("above_prompt_box", missing=Missing.NO_MATCH)).matches
    assert view.slice(Region("above_prompt_box", missing=Missing.EMPTY)).matches


def test_joined_rows_serve_where_somebody_asked_for_them() -> None:
    region = Region("whole", source=Source.JOINED)
    assert View(Screen("a\nb", joined="ab")).slice(region).text == "ab"
    assert View(Screen("a\nb")).slice(region).text == "a\nb"
