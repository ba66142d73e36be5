r"""What every match of a pattern must contain: the literal prefilter.

A cautious reading of the pattern: a run of plain characters at the top level, in no
group and under no repeat that may be zero, must occur in each match. Whatever is not
understood ends the run; a `|` at the top level ends everything. Missing a literal
costs a microsecond; claiming a wrong one would cost a match, so doubt means none.
"""

from __future__ import annotations

_SPECIAL = frozenset(".^$[](){}|*+?\\")
_OPTIONAL = frozenset("*?{")
_SHORTEST = 2  # characters; shorter runs occur on nearly every screen


def required_literal(source: str) -> tuple[bytes, bool]:
    """(UTF-8 bytes that each match holds, whether they are to be sought in lower-cased text).

    Empty bytes: nothing is known. Case-insensitive patterns give ASCII literals only.
    """
    body, flags = _leading_flags(source)
    if (
        "x" in flags
        or ("(?" in body
        and any(flag in body for flag in ("(?i", "(?s", "(?m", "(?U", "(?x", "(?-")))
    ):
        return b"", False
    fold = "i" in flags
    runs = _runs(body)
    if runs is None:
        return b"", False
    if fold:
        # K and S have non-ASCII partners (Kelvin sign, long s) under Unicode folding.
        runs = [piece for run in runs for piece in _ascii_pieces(run.lower())]
    best = max(runs, key=len, default="")
    if len(best) < _SHORTEST and best.isascii():
        return b"", False
    return best.encode("utf-8"), fold


def _leading_flags(source: str) -> tuple[str, str]:
    if source.startswith("(?"):
        end = source.find(")")
        if end > 2 and source[2:end].isalpha():
            return source[end + 1 :], source[2:end]
    return source, ""


def _ascii_pieces(run: str) -> list[str]:
    cleaned = "".join(char if char.isascii() and char not in "ks" else "\0" for char in run)
    return [piece for piece in cleaned.split("\0") if piece]


def _runs(body: str) -> list[str] | None:
    """The runs of plain characters at the top level; None if a `|` stands there."""
    runs, run = [], ""
    at, depth = 0, 0
    while at < len(body):
        char = body[at]
        literal, after = "", at + 1
        if char == "\\":
            after = _escape_end(body, at)
            if after == at + 2 and not body[at + 1].isalnum():
                literal = body[at + 1]
        elif char == "[":
            after = _class_end(body, at)
        elif char == "{":
            end = body.find("}", at)
            after = len(body) if end < 0 else end + 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "|" and depth == 0:
            return None
        elif char not in _SPECIAL:
            literal = char
        repeat = body[after : after + 1]
        if literal and depth == 0 and repeat not in _OPTIONAL:
            run += literal
            if repeat == "+":
                runs.append(run)
                run = ""
        else:
            runs.append(run)
            run = ""
        at = after
    return [*runs, run]


def _escape_end(body: str, at: int) -> int:
    letter = body[at + 1 : at + 2]
    if letter in ("p", "P", "x", "u", "U") and body.startswith("{", at + 2):
        end = body.find("}", at)
        return len(body) if end < 0 else end + 1
    width = {"p": 3, "P": 3, "x": 4, "u": 6, "U": 10}.get(letter, 2)
    return min(at + width, len(body))


def _class_end(body: str, at: int) -> int:
    at += 2 if body.startswith("[^", at) else 1
    if body.startswith("]", at):
        at += 1
    while at < len(body) and body[at] != "]":
        if body.startswith("[:", at) and (end := body.find(":]", at)) > 0:
            at = end + 2
        else:
            at += 2 if body[at] == "\\" else 1
    return at + 1
