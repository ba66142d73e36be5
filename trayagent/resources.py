"""Where the data folders `manifests`, `icons` and `sounds` lie: in the wheel, or beside the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The data folder `name`; raises FileNotFoundError with both places when it is in neither."""
    inside, beside = _PACKAGE / "data" / name, _PACKAGE.parent / name
    for place in (inside, beside):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the data folder {name!r} is missing: looked in {inside} and {beside}")
