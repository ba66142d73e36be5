"""What is different for projects in some folders: the config's profiles, asked by a project's path.

A glob covers a path as a whole; its `*` matches slashes too, so that `/home/me/work/*` covers
all that is below that folder. Of several profiles that cover a path, the first that says
something about a matter counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from trayagent.model.settings import Profile, QuietSettings, Settings, StateSwitches
from trayagent.model.states import State


def covering(settings: Settings, path: str) -> Iterator[Profile]:
    """The profiles that cover a project's path, in the config's order."""
    for profile in settings.alerts.profiles:
        if any(fnmatchcase(path, glob) for glob in profile.paths):
            yield profile


def switches(settings: Settings, path: str) -> StateSwitches | None:
    """Which states are told there, None if no profile says so."""
    return next((each.states for each in covering(settings, path) if each.states is not None), None)


def quiet_hours(settings: Settings, path: str) -> QuietSettings:
    """The quiet hours that hold there."""
    spans = next((each.quiet for each in covering(settings, path) if each.quiet is not None), None)
    return settings.quiet_hours if spans is None else replace(settings.quiet_hours, spans=spans)


def sound(settings: Settings, path: str, state: State) -> str:
    """The file of a state's sound there (`off` for silence), "" if no profile names one."""
    for profile in covering(settings, path):
        for name, file in profile.sounds:
            if name == state.value:
                return file or "off"
    return ""
