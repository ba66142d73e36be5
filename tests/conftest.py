"""What every test may rely on: markers, `--long`, and one plain skip line for what the machine lacks.

`tmux` tests need a tmux program; `desktop` tests need the programs of the headless test desktop
(tests/run.sh installs them when it runs as root); `long` tests run with `--long` only. A test that
is skipped says what is missing and how to get it, once per test and in one line each.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SCREENS = Path(__file__).parent / "screens"
DESKTOP_PROGRAMS = ("Xvfb", "dbus-daemon", "dunst", "openbox", "xterm", "xdotool", "xprop", "tmux")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long`: run the tests marked `long` too."""
    parser.addoption("--long", action="store_true", default=False, help="run the long tests too")


def _missing(programs: tuple[str, ...]) -> str:
    """Those of `programs` that are not on PATH, comma separated."""
    return ", ".join(name for name in programs if shutil.which(name) is None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as skipped what this machine cannot run, with the reason and the remedy."""
    reasons: dict[str, str] = {}
    if not config.getoption("--long"):
        reasons["long"] = "a long test: sh tests/run.sh --long"
    if _missing(("tmux",)):
        reasons["tmux"] = "no tmux on this machine: install that package, or run tests/run.sh as root"
    if lacking := _missing(DESKTOP_PROGRAMS):
        reasons["desktop"] = f"no test desktop here ({lacking} missing): run tests/run.sh as root once"
    for item in items:
        for marker, reason in reasons.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
                break


@pytest.fixture(scope="session")
def screens() -> Path:
    """The folder of recordings: `<agent id>/<name>.json`, `.cast`, `.states.json`, `.marks.json`."""
    return SCREENS
