r"""JavaScript's regular expressions (without the flags m, s, u) as RE2 reads them.

| in JavaScript | for RE2 |
| --- | --- |
| `\d \w \b` are ASCII, `\s` is Unicode with U+FEFF | the same classes, written out |
| `.` stops at `\n \r` U+2028 U+2029 | a class that leaves these out |
| `^ $` are the text's ends | the same |
| `\uHHHH`, also as a surrogate pair; `\xHH`; `\cX`; `\0` | `\x{...}` |
| `[]` never matches, `[^]` always | classes that do |
| `\` before a letter that means nothing: that letter | that letter |
| `\p{..}` without the flag u: the letter p and braces | the same, with a note |
| look-around, back-references | refused: they need more than linear time |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NEVER = r"[^\x{0}-\x{10FFFF}]"
ANYTHING = r"[\x{0}-\x{10FFFF}]"

_DOT = r"[^\n\r\x{2028}\x{2029}]"
_SPACE = r"\t\n\x{B}\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}"
_NO_SPACE = (
    r"\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}"
    r"\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}"
)
# escape -> members of a class
_CLASSES = {
    "d": "0-9", "D": r"\x{0}-/:-\x{10FFFF}", "w": "0-9A-Za-z_",
    "W": r"\x{0}-/:-@\[-\^`{-\x{10FFFF}", "s": _SPACE, "S": _NO_SPACE,
}  # fmt: skip
_CONTROLS = {"t": r"\t", "n": r"\n", "v": r"\x{B}", "f": r"\f", "r": r"\r", "0": r"\x{0}"}
_LOOKS = {"(?=": "look-ahead", "(?!": "look-ahead", "(?<=": "look-behind", "(?<!": "look-behind"}
_GROUP_NAME = re.compile(r"\(\?<([A-Za-z_$][A-Za-z0-9_$]*)>")
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")
_LOW_HALF = re.compile(r"\\u([dD][c-fC-F][0-9A-Fa-f]{2})")


class NotPossible(ValueError):
    """The pattern is legal in JavaScript, and cannot run in linear time; the text says why."""


@dataclass(slots=True)
class Translated:
    """source: for RE2, verbatim. notes: what does not mean what its author will have thought."""

    source: str
    notes: list[str] = field(default_factory=list)


def translate(source: str) -> Translated:
    """Rewrite a pattern. Raises NotPossible for look-around and back-references."""
    return _Translator(source).run()


class _Translator:
    """A walk over the pattern, sign by sign."""

    def __init__(self, source: str) -> None:
        self.source, self.at = source, 0
        self.notes: list[str] = []
        self.named = bool(_GROUP_NAME.search(source))

    def run(self) -> Translated:
        out: list[str] = []
        while self.at < len(self.source):
            out.append(self._piece())
        return Translated("".join(out), list(dict.fromkeys(self.notes)))

    def _piece(self) -> str:
        char = self.source[self.at]
        if char == "\\":
            return self._escape(in_class=False)
        if char == "[":
            return self._class()
        if char == "(":
            return self._group()
        self.at += 1
        if char == ".":
            return _DOT
        return "\\]" if char == "]" else char

    def _group(self) -> str:
        for sign, name in _LOOKS.items():
            if self.source.startswith(sign, self.at):
                raise NotPossible(f"{name} ({sign}...) is not possible in linear time")
        named = _GROUP_NAME.match(self.source, self.at)
        if named is not None:
            self.at = named.end()
            return "(?:"
        self.at += 1
        return "("

    def _class(self) -> str:
        for empty, meaning in (("[^]", ANYTHING), ("[]", NEVER)):
            if self.source.startswith(empty, self.at):
                self.at += len(empty)
                return meaning
        out = ["[^" if self.source.startswith("[^", self.at) else "["]
        self.at += len(out[0])
        while self.at < len(self.source):
            char = self.source[self.at]
            if char == "]":
                self.at += 1
                return "".join([*out, "]"])
            if char == "\\":
                out.append(self._escape(in_class=True))
                continue
            if ord(char) > 0xFFFF:
                self.notes.append("a class holds characters beyond U+FFFF, of which JavaScript sees halves")
            out.append("\\[" if char == "[" else char)
            self.at += 1
        return "".join(out)  # never closed: the engine says so

    def _escape(self, *, in_class: bool) -> str:
        letter = self.source[self.at + 1 : self.at + 2]
        start = self.at
        self.at += 2
        if letter in _CLASSES:
            members = _CLASSES[letter]
            return members if in_class else f"[{members}]"
        if letter == "b" and in_class:
            return r"\x{8}"
        if letter and letter in "bB" and not in_class:
            return "\\" + letter
        if letter and letter in "123456789" and not in_class:
            raise NotPossible(f"a back-reference (\\{letter}) is not possible in linear time")
        if letter == "k" and self.named:
            raise NotPossible("a back-reference (\\k<...>) is not possible in linear time")
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "c" and self.source[self.at : self.at + 1].isalpha():
            self.at += 1
            return f"\\x{{{ord(self.source[self.at - 1]) % 32:X}}}"
        code = _CODE.match(self.source, start + 1)
        if code is not None:
            return self._code(code)
        if letter in ("p", "P", "u") and self.source.startswith("{", self.at):
            self.notes.append(f"\\{letter}{{...}} means the letter {letter} and braces without the flag u")
        return letter if letter.isalnum() else "\\" + letter

    def _code(self, code: re.Match[str]) -> str:
        self.at = code.end()
        number = int(code[1] or code[2], 16)
        if 0xD800 <= number <= 0xDBFF:
            low = _LOW_HALF.match(self.source, self.at)
            if low is not None:
                self.at = low.end()
                number = 0x10000 + ((number - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
        if 0xD800 <= number <= 0xDFFF:
            self.notes.append("half a surrogate pair is on no screen")
            return r"\x{FFFD}"
        return f"\\x{{{number:X}}}"
