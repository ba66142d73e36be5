r"""The one place that knows a regular-expression engine: RE2, which is linear in the text.

Manifests write patterns for Rust's `regex` (herdr, ThinkTerm, jackin) or Go's RE2
(TUIOS): no look-around, no back-references, Unicode classes. RE2's C++ library reads
nearly all of that as it stands, but its `\s \d \w` are ASCII only, while agents draw
a no-break space behind their prompts. `translate` rewrites what differs:

| written | given to RE2 |
| --- | --- |
| `\s \S \d \D \w \W`, also inside `[...]` | the Unicode classes they mean |
| `\u{H..} \uHHHH \UHHHHHHHH` | `\x{H..}` |
| `\p{Alphabetic} \p{Letter} \p{White_Space} ...` | general categories |
| flag `u` (Unicode, always on here) | dropped |

Left to RE2 as they are: `\z \A \x{H..} \p{Lu}`, `(?i)` and its kin anywhere, lazy
repeats. `$` without `m` is the very end of the text, as in Rust. Two differences
remain: `\b` asks for ASCII word characters, and `\W` inside a class leaves out
code points that Unicode has not assigned.

Text is matched as UTF-8 bytes, since RE2 would encode it anew for each call otherwise.
`Pattern.needs` are literals that a match cannot do without (literals.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import re2

from trayagent.manifest.literals import Needs, needs_of_pattern

MOST_LITERALS = 512  # of one automaton; beyond it each is sought by itself
_END = b"\x00\n\x00"  # no screen holds this
MEMORY = 2 << 20  # bytes that RE2 may use for one pattern; beyond it, it refuses or slows, never grows


class PatternRefused(ValueError):
    """The pattern cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern. source: as the file wrote it. names: its named groups.
    needs: what lower-cased text must hold for it to be found."""

    source: str
    names: tuple[str, ...] = ()
    needs: Needs = ()
    _engine: Any = field(default=None, repr=False, compare=False)
    _groups: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)

    def found_in(self, text: bytes) -> bool:
        """Whether the pattern is found anywhere in UTF-8 text."""
        return self._engine.search(text) is not None

    def groups(self, text: bytes) -> dict[str, str] | None:
        """The named groups of the first match that took part in it, None if there is no match."""
        match = self._engine.search(text)
        return None if match is None else self._named(match)

    def each(self, text: bytes) -> list[dict[str, str]]:
        """The named groups of every match that does not overlap one before it."""
        return [self._named(match) for match in self._engine.finditer(text)]

    def _named(self, match: Any) -> dict[str, str]:
        found = {name: match[index] for name, index in self._groups}
        return {name: _text(value) for name, value in found.items() if value is not None}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


@lru_cache(maxsize=4096)
def compile_pattern(
    source: str,
    *,
    captures: bool = False,
    ignore_case: bool = False,
    by_line: bool = False,
    verbatim: bool = False,
) -> Pattern:
    """Compile a pattern; raises PatternRefused with the reason. captures: named groups are wanted.
    verbatim: it is written in RE2's own syntax (Go's), whose classes are ASCII.

    by_line: it is to match within one line of the text that it is given. One pass over
    the whole text does that: `^ $ \\A \\z` are a line's ends, and nothing matches a newline.
    """
    translated = source if verbatim else translate(source, by_line=by_line)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    options.never_capture = not captures
    options.case_sensitive = not ignore_case
    options.never_nl = by_line
    try:
        engine = re2.compile(translated.encode("utf-8"), options)
    except re2.error as error:
        raise PatternRefused(_reason(error, source)) from None
    groups = tuple((_text(name), index) for name, index in engine.groupindex.items()) if captures else ()
    names = tuple(name for name, _ in groups)
    needs = needs_of_pattern(f"(?i){source}" if ignore_case else source)
    return Pattern(source, names, needs, engine, groups)


class LiteralSet:
    """Finds which of many literals a text holds, in one pass. Literals go by their index."""

    __slots__ = ("_engine", "_literals")

    def __init__(self, literals: tuple[bytes, ...]) -> None:
        self._literals = literals
        self._engine: Any = None
        if 0 < len(literals) <= MOST_LITERALS:
            options = re2.Options()
            options.literal = options.never_capture = True
            options.log_errors = False
            engine = re2.Set.SearchSet(options)
            for literal in (*literals, _END):
                engine.Add(literal)
            engine.Compile()
            self._engine = engine

    def found_in(self, text: bytes) -> frozenset[int]:
        """The indexes of the literals that occur in the text."""
        if self._engine is not None:
            found = self._engine.Match(text + _END)
            # An automaton that ran out of memory finds nothing, not even what we put there.
            if found is not None and len(self._literals) in found:
                return frozenset(found) - {len(self._literals)}
        return frozenset(at for at, literal in enumerate(self._literals) if literal in text)


_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")


def _reason(error: Exception, source: str) -> str:
    said = error.args[0] if error.args else "refused by the engine"
    text = _text(said)
    if any(look in source for look in _LOOKS):
        return f"look-around is not possible in linear time ({text})"
    if any(f"\\{digit}" in source for digit in "123456789"):
        return f"back-references are not possible in linear time ({text})"
    return text


# -- translation -------------------------------------------------------------------------

# Unicode White_Space, which is what \s means to Rust; RE2's own is [\t\n\f\r ].
_SPACES = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip


def _ranges(pairs: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in pairs)


def _others(pairs: tuple[tuple[int, int], ...]) -> str:
    starts = [0] + [high + 1 for _, high in pairs]
    ends = [low - 1 for low, _ in pairs] + [0x10FFFF]
    return _ranges(tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high))


# Circled and squared letters are symbols by category, yet alphabetic.
_LETTERS = r"\p{L}\p{Nl}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
_WORD = _LETTERS + r"\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}"
_NO_WORD = r"\p{C}\p{No}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}"

# escape -> (what it is inside a class, what it is alone)
_CLASSES = {
    "s": (_ranges(_SPACES), f"[{_ranges(_SPACES)}]"),
    "S": (_others(_SPACES), f"[{_others(_SPACES)}]"),
    "d": (r"\p{Nd}", r"\p{Nd}"),
    "D": (r"\P{Nd}", r"\P{Nd}"),
    "w": (_WORD, f"[{_WORD}]"),
    "W": (_NO_WORD, f"[^{_WORD}]"),
}

# Rust's long property names -> members of a class.
_PROPERTIES = {
    "alphabetic": _LETTERS, "alpha": _LETTERS, "letter": r"\p{L}", "uppercase": r"\p{Lu}",
    "lowercase": r"\p{Ll}", "mark": r"\p{M}", "number": r"\p{N}", "punctuation": r"\p{P}",
    "symbol": r"\p{S}", "separator": r"\p{Z}", "decimal_number": r"\p{Nd}",
    "white_space": _ranges(_SPACES), "whitespace": _ranges(_SPACES),
}  # fmt: skip

_LINE_ENDS = {"\\A": "^", "\\z": "$"}

_HEX_WIDTH = {"u": 4, "U": 8}
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


def translate(source: str, *, by_line: bool = False) -> str:
    """Rewrite a pattern for RE2; raises PatternRefused for what would silently mean something else."""
    out: list[str] = ["(?m)"] if by_line else []
    at, in_class = 0, False
    while at < len(source):
        if source[at] == "\\":
            piece, at = _escape(source, at, in_class)
            piece = _LINE_ENDS.get(piece, piece) if by_line else piece
        elif in_class:
            piece, at, in_class = _class_member(source, at)
        elif source[at] == "[":
            piece, at = _class_opening(source, at)
            in_class = True
        elif source.startswith("(?", at) and (flags := _flags(source, at + 2)) is not None:
            piece, at = "(?" + flags[0], flags[1]
        else:
            piece, at = source[at], at + 1
        out.append(piece)
    return "".join(out)


def _class_opening(source: str, at: int) -> tuple[str, int]:
    """`[`, with `^` and a closing bracket that stands first and is therefore a member."""
    end = at + (2 if source.startswith("[^", at) else 1)
    opening = source[at:end]
    return (opening + "\\]", end + 1) if source.startswith("]", end) else (opening, end)


def _class_member(source: str, at: int) -> tuple[str, int, bool]:
    """One member of a class, where it ends, and whether the class goes on."""
    if source.startswith("[:", at) and (end := source.find(":]", at)) > 0:
        return source[at : end + 2], end + 2, True
    if source[at : at + 2] in ("&&", "~~", "--"):
        raise PatternRefused(f"set operation {source[at : at + 2]!r} inside a class")
    char = source[at]
    return ("\\[" if char == "[" else char), at + 1, char != "]"


def _flags(source: str, at: int) -> tuple[str, int] | None:
    """The flags of `(?flags)` or `(?flags:`, up to but without the closing sign; None for other groups."""
    end = at
    while end < len(source) and (source[end].isalpha() or source[end] == "-"):
        end += 1
    if end == at or end >= len(source) or source[end] not in "):":
        return None
    flags = source[at:end]
    if "x" in flags:
        raise PatternRefused("the flag x (layout in patterns)")
    kept = flags.replace("u", "")
    if not kept.strip("-"):
        kept = ""
    if not kept and source[end] == ")":
        return ":", end  # `(?u)` says nothing here: an empty group stands in its place
    return kept, end


def _escape(source: str, at: int, in_class: bool) -> tuple[str, int]:
    """The translation of the escape at `at`, and where it ends."""
    if at + 1 >= len(source):
        raise PatternRefused("a backslash at the end")
    letter = source[at + 1]
    if letter in _CLASSES:
        return _CLASSES[letter][0 if in_class else 1], at + 2
    if letter in _HEX_WIDTH:
        return _code_point(source, at, letter)
    if letter in "pP":
        return _property(source, at, in_class)
    if letter in "<>" or source.startswith("\\b{", at):
        raise PatternRefused(f"word-edge sign {source[at : at + 3]!r}")
    return source[at : at + 2], at + 2


def _code_point(source: str, at: int, letter: str) -> tuple[str, int]:
    if source.startswith("{", at + 2) and (end := source.find("}", at)) > 0:
        digits, after = source[at + 3 : end], end + 1
    else:
        after = at + 2 + _HEX_WIDTH[letter]
        digits = source[at + 2 : after] if after <= len(source) else ""
    if not digits or not set(digits) <= _HEX_DIGITS or int(digits, 16) > 0x10FFFF:
        raise PatternRefused(f"bad code point {source[at:after]!r}")
    return f"\\x{{{int(digits, 16):X}}}", after


def _property(source: str, at: int, in_class: bool) -> tuple[str, int]:
    end = source.find("}", at)
    if not source.startswith("{", at + 2) or end < 0:
        return source[at : at + 3], at + 3
    members = _PROPERTIES.get(source[at + 3 : end].strip().lower().replace(" ", "_"))
    if members is None:
        return source[at : end + 1], end + 1
    if source[at + 1] == "p":
        return (members if in_class else f"[{members}]"), end + 1
    if in_class:
        raise PatternRefused(f"{source[at : end + 1]!r} inside a class")
    return f"[^{members}]", end + 1
