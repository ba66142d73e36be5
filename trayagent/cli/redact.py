"""Names, paths and secrets out of a recorded screen, without moving anything on it.

Rules read structure: borders, columns, wrapped rows. So a name is replaced by one of the same length
(`alexandra` becomes `devxxxxxx`), and where a masked secret made a row shorter, its right border
is put back. What is replaced: the home folder, the user's login, full name and e-mail, the host,
the folders on the way to the project, and owner, project and host of its git remotes; then
everything that looks like a secret (manifest/mask.py). What a person would still
not want to show, only a person sees: `capture` shows the result and asks.
"""

from __future__ import annotations

import os
import pwd
import re
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trayagent.manifest.mask import MASK, mask

USER, HOST, PROJECT, OWNER = "dev", "devbox", "project", "acme"
GIT_SECONDS = 5.0

_SHORTEST = 3
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_REMOTE = re.compile(r"(?:[a-z+]+://)?(?:[^@/\s]+@)?([^:/\s]+)[:/](?:\d+/)?(\S+?)(?:\.git)?/?")
_PUBLIC = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "localhost"})
_PLAIN = frozenset(
    {
        "home",
        "root",
        "users",
        "user",
        "work",
        "src",
        "tmp",
        "var",
        "usr",
        "opt",
        "mnt",
        "srv",
        "code",
        "repos",
    }
    | {"projects", "project", "documents", "desktop", "workspace", "git", "github", "dev", "data", "lib"}
)
_BORDERS = "│┃║|"
_KEY_BEGINS, _KEY_ENDS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY"),
    re.compile(r"-----END [A-Z ]*PRIVATE KEY"),
)
# Values that are words of ours, not of the screen.
_FIXED = frozenset({"agent", "state", "version", "scenario", "comm", "pane_current_command", "progress"})


class Redactor:
    """Replaces words. words: what to replace, and by what (cut or filled to the same length).
    kept: words that stay although they are names (the agent's own)."""

    def __init__(self, words: Iterable[tuple[str, str]], kept: Iterable[str] = ()) -> None:
        staying = {word.lower() for word in kept}
        self._words: dict[str, str] = {}
        self.kept: list[str] = []
        for word, stand_in in words:
            if word.lower() in staying:
                self.kept.append(word)
            elif len(word) >= _SHORTEST:
                self._words.setdefault(word.lower(), stand_in)
        longest_first = sorted(self._words, key=len, reverse=True)
        joined = "|".join(re.escape(word) for word in longest_first)
        self._pattern = re.compile(rf"(?<![^\W_])(?:{joined})(?![^\W_])", re.I) if joined else None
        self.replaced: dict[str, str] = {}

    def value(self, value: Any, key: str = "") -> Any:
        """Any JSON value with its strings replaced; keys and words of ours stay."""
        if isinstance(value, str):
            return value if key in _FIXED else self.text(value)
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if isinstance(value, dict):
            return {name: self.value(item, name) for name, item in value.items()}
        return value

    def text(self, text: str) -> str:
        """A text of one or more rows."""
        text = _EMAIL.sub(lambda found: self._note(found[0], "dev@example.com"), text)
        if self._pattern is not None:
            text = self._pattern.sub(lambda found: self._note(found[0], self._words[found[0].lower()]), text)
        return "\n".join(self._masked(text.split("\n")))

    def _note(self, found: str, stand_in: str) -> str:
        self.replaced[found] = fit(stand_in, len(found))
        return self.replaced[found]

    def _masked(self, rows: list[str]) -> Iterable[str]:
        in_key = False
        for row in rows:
            in_key = in_key or _KEY_BEGINS.search(row) is not None
            masked = MASK if in_key else mask(row)
            in_key = in_key and _KEY_ENDS.search(row) is None
            if masked != row:
                self.replaced[f"{MASK} (a secret)"] = MASK
                masked = _with_border(row, masked)
            yield masked


def fit(stand_in: str, length: int) -> str:
    """The stand-in in exactly so many characters; a path keeps its last part's length to itself."""
    return stand_in[:length] if len(stand_in) >= length else stand_in + "x" * (length - len(stand_in))


def _with_border(row: str, masked: str) -> str:
    """The masked row with the right border where it was."""
    missing, plain = len(row) - len(masked), masked.rstrip()
    if missing > 0 and plain and plain[-1] in _BORDERS and row.rstrip()[-1] == plain[-1]:
        return plain[:-1] + " " * (missing + len(masked) - len(plain)) + plain[-1]
    return masked


# -- whose names ---------------------------------------------------------------------------


def own_words(folder: str) -> list[tuple[str, str]]:
    """What to replace for this user, on this machine, in this folder."""
    words: list[tuple[str, str]] = []
    home, user = Path.home(), pwd.getpwuid(os.getuid())
    words.append((user.pw_name, USER))
    words += [(part, USER) for part in re.split(r"[\s,]+", user.pw_gecos)]
    host = socket.gethostname()
    words += [(host, HOST), (host.partition(".")[0], HOST)]
    words += [(part, USER) for part in home.parts[1:] if part.lower() not in _PLAIN]
    below = Path(folder).parts[1:] if folder.startswith("/") else ()
    words += [(part, PROJECT) for part in below if part.lower() not in _PLAIN]
    for remote in _git(folder, "remote", "-v").splitlines():
        words += remote_words(remote.partition("\t")[2].partition(" ")[0])
    for setting in ("user.name", "user.email"):
        words += [(part, USER) for part in re.split(r"[\s@]+", _git(folder, "config", setting))]
    return [(word, stand_in) for word, stand_in in words if word]


def remote_words(url: str) -> list[tuple[str, str]]:
    """Owner, project and host of a git remote; public hosts are no secret."""
    found = _REMOTE.fullmatch(url)
    if found is None:
        return []
    *owners, project = found[2].strip("/").split("/")
    words = [(owner, OWNER) for owner in owners if owner.lower() not in _PLAIN]
    words.append((project, PROJECT))
    if found[1].lower() not in _PUBLIC:
        words.append((found[1], "git.example.com"))
    return words


def _git(folder: str, *args: str) -> str:
    """What git says of the folder, "" where it says nothing."""
    if not folder or not Path(folder).is_dir():
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", folder, *args], capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):  # no git here: then it knows no names either
        return ""
    return done.stdout.strip()
