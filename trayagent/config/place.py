"""Where in a config text a value goes, and what the text is with it there: the surgery of `config set`.

A value that is there is replaced between its own marks. A key that is not there becomes a line
of its own: below its commented default where there is one, else after the section's last entry;
in braces, after the last entry. What would change more than that is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trayagent.config.nodes import Alias, Mapping, Node, Scalar, Sequence

BOM = "\ufeff"
_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]+)+")
_BY_HAND = "change it in an editor: trayagent config edit"


class EditRefused(Exception):
    """The change was not made; the text says why and what to do."""


def key_text(name: str) -> str:
    """A key as YAML."""
    return name if re.fullmatch(r"[A-Za-z0-9_./-]+", name) else quoted(name)


def quoted(value: str) -> str:
    """A text in single quotes."""
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Placer:
    """One change: `names`, the key's path, gets `written`. below_comment: look for its commented default."""

    text: str
    names: tuple[str, ...]
    written: str
    below_comment: bool = True

    def placed(self, root: Node | None) -> str:
        """The new text. Raises EditRefused."""
        if root is None or (isinstance(root, Scalar) and not root.text):
            return self._first_entry()
        return self._descend(root, 0)

    def _cut(self, start: int, end: int, new: str) -> str:
        return self.text[:start] + new + self.text[end:]

    def _first_entry(self) -> str:
        if re.search(r"^\.\.\.", self.text, re.M):
            raise EditRefused(f"the file ends with `...`, after which nothing counts; {_BY_HAND}")
        return self.text + self._rows(len(self.text), "", 0)

    def _descend(self, node: Node, depth: int) -> str:
        """Follow the path as far as the text has it, then replace or insert."""
        section = ".".join(self.names[:depth]) or "the file"
        if isinstance(node, Alias):
            raise EditRefused(f"{section} is *{node.name}, which may be used elsewhere too; {_BY_HAND}")
        if not isinstance(node, Mapping):
            raise EditRefused(f"{section} is written in its short form; {_BY_HAND}")
        entry = node.own(self.names[depth])
        if entry is None:
            return self._insert(node, depth)
        key, value = entry
        if depth == len(self.names) - 1:
            return self._replace(key, value, self.written)
        if isinstance(value, Scalar) and value.empty:
            return self._fill(node, key, value, depth + 1)
        return self._descend(value, depth + 1)

    def _replace(self, key: Scalar, value: Node, written: str) -> str:
        start, end = value.span.start, _last(value)
        after_colon = self.text.index(":", key.span.end) + 1
        if start == end:  # `key:` and nothing
            return self._cut(after_colon, after_colon, f" {written}")
        if isinstance(value, Sequence | Mapping):
            if "#" in self.text[after_colon:end]:
                raise EditRefused(f"there may be comments within the old value; {_BY_HAND}")
            if not value.flow:  # it begins on a line of its own
                return self._cut(after_colon, end, f" {written}")
        if match := _PROPERTIES.match(self.text, start, end):
            start = match.end()  # an anchor stays
        block = isinstance(value, Scalar) and value.block and self.text[end - 1] == "\n"
        return self._cut(start, end, written + (self._newline if block else ""))

    def _insert(self, mapping: Mapping, depth: int) -> str:
        """A new entry in a mapping that has others."""
        if mapping.flow:
            return self._insert_in_braces(mapping, depth)
        first = mapping.entries[0][0]
        indent = self._indent(first)
        at = _line_end(self.text, _last(mapping))
        begin = self.text.rfind("\n", 0, first.span.start) + 1
        return self._line(_comments_start(self.text, begin, len(indent) - 1), at, indent, depth)

    def _insert_in_braces(self, mapping: Mapping, depth: int) -> str:
        inner = "".join(f"{key_text(name)}: {{" for name in self.names[depth:-1])
        entry = f"{inner}{key_text(self.names[-1])}: {self.written}{'}' * (len(self.names) - depth - 1)}"
        content = self.text[mapping.span.start + 1 : mapping.span.end - 1].rstrip()
        if "{" not in self.text[mapping.span.start : mapping.span.start + 1] or "#" in content:
            raise EditRefused(f"the braces hold more than entries; {_BY_HAND}")
        at = mapping.span.start + 1 + len(content)
        comma = ", " if content and not content.endswith(",") else " " if content else ""
        return self._cut(at, at, comma + entry)

    def _fill(self, parent: Mapping, key: Scalar, value: Scalar, depth: int) -> str:
        """The first entry of a section that has none (`alerts:` above comments only)."""
        if parent.flow:
            inner = "".join(f"{{{key_text(name)}: " for name in self.names[depth:])
            return self._replace(key, value, inner + self.written + "}" * (len(self.names) - depth))
        if value.text:  # a written null: it goes, the section comes
            without = self._cut(value.span.start, value.span.end, "")
            gone = Scalar("", value.span)
            return Placer(without, self.names, self.written, self.below_comment)._fill(
                parent, key, gone, depth
            )
        indent = self._indent(key) + "  "
        at = _line_end(self.text, key.span.end)
        return self._line(at, at, indent, depth)

    def _line(self, search_from: int, at: int, indent: str, depth: int) -> str:
        """The entry as lines of its own: below its commented default, else at `at`."""
        if self.below_comment:
            end = _comments_end(self.text, at, len(indent) - 1)
            name = re.escape(self.names[depth])
            match = re.compile(rf"^{indent}# ?{name}:[^\n]*(\n|$)", re.M).search(self.text, search_from, end)
            at = match.end() if match else at
        return self._cut(at, at, self._rows(at, indent, depth))

    def _rows(self, at: int, indent: str, depth: int) -> str:
        newline = self._newline
        rows = [f"{indent}{'  ' * step}{key_text(name)}:" for step, name in enumerate(self.names[depth:])]
        before = self.text[:at].removeprefix(BOM)
        start = newline if before and not before.endswith("\n") else ""
        return f"{start}{newline.join(rows)} {self.written}{newline}"

    @property
    def _newline(self) -> str:
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"

    def _indent(self, key: Scalar) -> str:
        before = self.text[self.text.rfind("\n", 0, key.span.start) + 1 : key.span.start].removeprefix(BOM)
        if before.strip(" "):
            raise EditRefused(f"the section does not begin on a line of its own; {_BY_HAND}")
        return before


def _last(node: Node) -> int:
    """Where a node's own text ends; a block's end mark lies behind the comments that follow it."""
    if isinstance(node, Sequence) and not node.flow and node.items:
        return _last(node.items[-1])
    if isinstance(node, Mapping) and not node.flow and node.entries:
        return _last(node.entries[-1][1])
    return node.span.end


def _line_end(text: str, at: int) -> int:
    """The start of the line after the one that `at` lies in; `at` itself if a line starts there."""
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _comments_start(text: str, at: int, outer: int) -> int:
    """The start of the blank lines and comments before `at` that are indented deeper than `outer`."""
    while at:
        begin = text.rfind("\n", 0, at - 1) + 1
        if not _is_comment(text[begin:at], outer):
            break
        at = begin
    return at


def _comments_end(text: str, at: int, outer: int) -> int:
    """The end of the blank lines and comments after `at` that are indented deeper than `outer`."""
    while at < len(text):
        end = _line_end(text, at + 1)
        if not _is_comment(text[at:end], outer):
            break
        at = end
    return at


def _is_comment(line: str, outer: int) -> bool:
    content = line.lstrip(" ")
    return not content.strip() or (content.startswith("#") and len(line) - len(content) > outer)
