r"""Secrets in what is shown: a pure function over a message, for banners, lists and sinks.

A command that waits for permission may carry a key (`curl -H "Authorization: Bearer
..."`, `export API_KEY=...`, a URL with a password). What looks like one is replaced by
`•••`, keeping what says which kind it was. Rather a word too many is masked than one too few,
but hashes, paths, versions and ordinary words stay readable.

| kind | example | becomes |
| --- | --- | --- |
| key block | `-----BEGIN ... PRIVATE KEY-----` and what follows | `•••` |
| password in a URL | `https://user:secret@host` | `https://user:•••@host` |
| HTTP header | `Authorization: Bearer abc` | `Authorization: Bearer •••` |
| named value | `API_KEY=abc`, `--password abc`, `"token": "abc"` | `API_KEY=•••` |
| known prefix | `sk-...`, `ghp_...`, `AKIA...`, `xoxb-...`, `eyJ...` | `sk-•••` |
| long random word | 32 or more characters that mix cases and digits | `•••` |
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

MASK = "•••"
_SHORTEST_RANDOM = 32
_FEWEST_DIGITS = 3
_HEX = frozenset("0123456789abcdefABCDEF-")

_NAME = (
    r"[A-Za-z0-9_.\-]*(?:secret|token|passwd|password|passphrase|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|credentials?|auth[_-]?key)[A-Za-z0-9_\-]*"
)
_VALUE = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"'&;|,)]+)"""
_PREFIXES = (
    r"gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|pypi-|hf_|dop_v1_|shpat_"
    r"|AIza|ya29\.|AGE-SECRET-KEY-"
)

# (pattern, what stays behind the mask); the pattern's group stays before it.
_RULES = (
    (r"(?s)()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)", ""),
    (r"(\b[a-z][a-z0-9+.\-]*://[^\s/:@]*:)[^\s/@]+@", "@"),
    (
        r"(?i)(\b(?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?(?:(?:bearer|basic|token|digest|apikey)\s+)?)"
        r"[^\s'\"]+",
        "",
    ),
    (r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/\-]{8,}=*", ""),
    (rf"(?i)((?:^|[^A-Za-z0-9_])['\"]?{_NAME}['\"]?\s*(?:=|:)\s*){_VALUE}", ""),
    (rf"(?i)(--?{_NAME}(?:\s+|=)){_VALUE}", ""),
    (r"(?i)(\s(?:-u|--user)(?:\s+|=)[^\s:]+:)\S+", ""),
    (r"(\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])?)[A-Za-z0-9_\-]{12,}", ""),
    (rf"(\b(?:{_PREFIXES}))[A-Za-z0-9_\-.]{{8,}}", ""),
    (r"(\b(?:AKIA|ASIA))[A-Z0-9]{12,}", ""),
    (r"(\beyJ)[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){1,2}", ""),
)
_RANDOM = rf"[A-Za-z0-9_+/\-]{{{_SHORTEST_RANDOM},}}={{0,2}}"


def mask(text: str) -> str:
    """The text with what looks like a secret replaced; time is linear in its length."""
    rules, random = _compiled()
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair, which JSON can say, is no text
    for pattern, behind in rules:
        text = str(pattern.sub(lambda match, behind=behind: match.group(1) + MASK + behind, text))
    return str(random.sub(lambda match: _without_random(match.group()), text))


@lru_cache(maxsize=1)
def _compiled() -> tuple[list[tuple[Any, str]], Any]:
    """The patterns, compiled at the first use: most commands never mask anything."""
    return [(re2.compile(pattern), behind) for pattern, behind in _RULES], re2.compile(_RANDOM)


def _without_random(word: str) -> str:
    """The word, or the mask if it mixes cases and digits; hex (hashes, ids) and paths are none such."""
    if set(word) <= _HEX or word.count("/") > 1:
        return word
    mixed = any(map(str.islower, word)) and any(map(str.isupper, word))
    return MASK if mixed and sum(map(str.isdigit, word)) >= _FEWEST_DIGITS else word
