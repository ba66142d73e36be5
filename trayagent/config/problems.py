"""What is wrong with a config file, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. line, column: from 1, 0 where it is about the whole file.

    error: the file cannot be used as it is; otherwise it is a warning. kind: `unknown` for a key
    that the schema does not have, `empty` for one without a value."""

    text: str
    line: int = 0
    column: int = 0
    key: str = ""
    error: bool = True
    kind: str = ""

    def render(self, file: str) -> str:
        """`file:line:column: key: what`, the form that editors jump to."""
        place = f"{file}:{self.line}:{self.column}" if self.line else file
        parts = [place, self.key, self.text if self.error else f"warning: {self.text}"]
        return ": ".join(part for part in parts if part)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)`, or nothing where no known word is near."""
    folded = {name.lower().replace("-", "_"): name for name in known}
    word = word.lower().replace("-", "_")
    near = difflib.get_close_matches(word, folded, n=1, cutoff=0.6)
    if not near:  # `notifications` for notify: alike at the start only
        near = [name for name in folded if len(name) > 3 and name[:3] == word[:3]]
    return f" (did you mean {folded[near[0]]}?)" if near else ""
