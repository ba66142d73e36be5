"""The icons: complete, different in shape, legible on both kinds of panel, and honest about the number."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from trayagent.desktop.tray.icons import THEMES, Icons, icon_name
from trayagent.model.states import State
from trayagent.model.view import TrayView

SIZES = [16, 22, 24, 32, 44, 48, 64]
LIGHT, DARK = (0xF6, 0xF5, 0xF4), (0x35, 0x35, 0x35)
PLAIN = ["idle", "working", "done", "blocked", "error", "paused", "unknown"]
COUNTED = [f"{state}-{n}" for state in ("blocked", "error", "paused") for n in (*range(1, 10), "9+")]


@pytest.mark.parametrize(
    ("count", "number"), [(0, ""), (-1, ""), (1, "-1"), (9, "-9"), (10, "-9+"), (400, "-9+")]
)
@pytest.mark.parametrize("paused", [False, True])
def test_the_number_on_the_icon_is_the_number_of_panes_that_need_you(
    count: int, number: str, paused: bool
) -> None:
    view = TrayView(State.BLOCKED, paused=paused, count=count)
    assert icon_name(view) == ("paused" if paused else "blocked") + number


def test_somebody_who_is_needed_is_not_hidden_behind_a_calm_icon() -> None:
    assert icon_name(TrayView(State.WORKING, count=2)) == "blocked-2"
    assert icon_name(TrayView(State.WORKING)) == "working"
    assert icon_name(TrayView(State.ERROR, count=2)) == "error-2"


@pytest.mark.parametrize("theme", THEMES)
def test_every_view_has_an_icon_at_every_size(theme: str) -> None:
    icons = Icons(theme)
    for name in PLAIN + COUNTED:
        pixmaps = icons.pixmaps(name)
        assert [width for width, _, _ in pixmaps] == SIZES, name
        assert all(len(pixels) == width * height * 4 for width, height, pixels in pixmaps)
    names = {
        icon_name(TrayView(state, paused, count))
        for state in State
        for paused in (0, 1)
        for count in range(12)
    }
    assert names <= set(PLAIN + COUNTED)


def alphas(pixels: bytes) -> list[int]:
    return list(pixels[0::4])


def test_states_differ_in_shape_and_not_only_in_colour_at_16_pixels() -> None:
    icons = Icons()
    shapes = {name: alphas(icons.pixmaps(name)[0][2]) for name in PLAIN}
    for one, other in combinations(PLAIN, 2):
        differing = sum(abs(a - b) > 100 for a, b in zip(shapes[one], shapes[other], strict=True))
        assert differing >= 12, (one, other)


def luminance(colour: tuple[int, int, int]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Contrast ratio as in WCAG 2.1, where 3 is the least for graphics."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("panel", [LIGHT, DARK])
def test_the_neutral_theme_stands_out_on_light_and_dark_panels(
    name: str, panel: tuple[int, int, int]
) -> None:
    _, _, pixels = Icons("neutral").pixmaps(name)[0]
    solid = [tuple(pixels[i + 1 : i + 4]) for i in range(0, len(pixels), 4) if pixels[i] > 200]
    readable = sum(contrast(colour, panel) >= 2.9 for colour in solid)  # type: ignore[arg-type]
    assert readable >= 12


def test_the_number_can_be_told_apart_at_16_pixels() -> None:
    icons = Icons()
    for state in ("blocked", "error", "paused"):
        drawn = [icons.pixmaps(f"{state}-{n}")[0][2] for n in (*range(1, 10), "9+")]
        for one, other in combinations(drawn, 2):
            differing = sum(one[i : i + 4] != other[i : i + 4] for i in range(0, len(one), 4))
            assert differing >= 4


def test_a_missing_or_broken_pack_is_told_and_gives_no_pixels(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    icons = Icons("neutral", tmp_path)
    assert icons.pixmaps("idle") == []
    assert icons.pixmaps("idle") == []
    (tmp_path / "neutral.pack").write_bytes(b'{"sizes":[16],"icons":{"idle":[0,5]}}\nabcde')
    assert Icons("neutral", tmp_path).pixmaps("idle") == []
    assert len(caplog.records) == 2


def test_menu_rows_have_png_icons_for_states_and_for_nothing_else() -> None:
    icons = Icons()
    assert icons.png("blocked").startswith(b"\x89PNG")
    assert icons.png("face-smile") == b""


def test_an_unknown_theme_is_the_neutral_one() -> None:
    assert Icons("plaid").pixmaps("idle") == Icons("neutral").pixmaps("idle")
