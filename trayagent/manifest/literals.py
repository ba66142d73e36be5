r"""What must be on the screen for a pattern or a gate to hold: the literal prefilter.

Most rules fail on most screens, and looking for a literal is ten times cheaper than
cutting a region and asking the engine. A `Needs` is a conjunction of alternatives:
each tuple of byte strings must have a member in the lower-cased text. It is necessary,
never sufficient; where the reading of a pattern is in doubt, it asks for nothing.

A pattern is read by a small descent over its source. Each piece yields the strings it
can be exactly (few, or unknown), and neighbours are joined, so that `(?:Interrupted|
Rejected)\b` asks for one of two words. A newline ends a string, as does anything
that may repeat: regions of other dialects drop rows, so adjacency over a row's end
proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from trayagent.manifest.reader import Reader

Needs = tuple[tuple[bytes, ...], ...]

_MOST_ALTERNATIVES = 8
_MOST_NEEDS = 5  # of one gate
_SHORTEST = 3  # bytes; a shorter string is on nearly every screen
_ZERO_WIDTH = frozenset("AzbB")

# What a piece can be exactly; None: unknown.
_Exact = frozenset[str] | None
_NOTHING: frozenset[str] = frozenset({""})


def needs_of_pattern(source: str) -> Needs:
    """What the lower-cased text must hold for the pattern to be found in it."""
    reader = Reader(source)
    try:
        found = _alternation(reader, fold=False)
    except _Doubt:
        return ()
    return () if reader.left else _best(found.told())


def needs_of_text(text: str) -> Needs:
    """What the lower-cased text must hold for a lower-case literal to be in it, wrapped or not."""
    words = [tuple(_sure(word)) for word in text.split()]
    return _best([(word,) for pieces in words for word in pieces])


def both(members: list[Needs]) -> Needs:
    """What is needed where all of several needs must be met: the best of them."""
    merged = dict.fromkeys(alternatives for needs in members for alternatives in needs)
    return tuple(sorted(merged, key=_weakness))[:_MOST_NEEDS]


def met(needs: Needs, lowered: bytes) -> bool:
    """Whether the text holds what is needed."""
    for alternatives in needs:
        for literal in alternatives:
            if literal in lowered:
                break
        else:
            return False
    return True


def either(members: list[Needs]) -> Needs:
    """What is needed where one of several needs must be met: the best literals of each."""
    if not members or not all(members):
        return ()
    union = _without_longer(literal for needs in members for literal in needs[0])
    return (union,) if len(union) <= _MOST_ALTERNATIVES else ()


def _without_longer(literals: Iterable[bytes]) -> tuple[bytes, ...]:
    """Alternatives without those that hold another one, which says as much."""
    kept: list[bytes] = []
    for literal in sorted(dict.fromkeys(literals), key=len):
        if not any(shorter in literal for shorter in kept):
            kept.append(literal)
    return tuple(kept)


def _best(needs: list[tuple[str, ...]]) -> Needs:
    """The needs that say most, as bytes of lower-cased text."""
    told = [_without_longer(literal.encode().lower() for literal in alternatives) for alternatives in needs]
    told = [alternatives for alternatives in told if min(map(len, alternatives)) >= _SHORTEST]
    told.sort(key=_weakness)
    return tuple(dict.fromkeys(told))[:_MOST_NEEDS]


def _weakness(alternatives: tuple[str, ...] | tuple[bytes, ...]) -> tuple[int, int]:
    return len(alternatives), -min(map(len, alternatives))


def _sure(word: str) -> list[str]:
    """The pieces of a lower-case literal that byte-wise lower-casing treats as Unicode's does."""
    kept = "".join(char if char.isascii() or char.upper() == char else "\0" for char in word)
    return [piece for piece in kept.split("\0") if piece]


class _Doubt(Exception):
    """The pattern is legal but odd; nothing is claimed of it."""


class _Found:
    """What one piece of a pattern can be, and what it needs."""

    __slots__ = ("exact", "needs")

    def __init__(self, exact: _Exact, needs: list[tuple[str, ...]] | None = None) -> None:
        self.exact = exact
        self.needs = needs or []

    def told(self) -> list[tuple[str, ...]]:
        """The needs, those of the exact strings among them."""
        if self.exact is None or "" in self.exact:
            return self.needs
        return [*self.needs, tuple(sorted(self.exact))]


def _alternation(reader: Reader, *, fold: bool) -> _Found:
    branches: list[_Found] = []
    while True:
        branch, fold = _sequence(reader, fold)
        branches.append(branch)
        if not reader.take("|"):
            break
    if len(branches) == 1:
        return branches[0]
    exact: set[str] | None = set()
    for branch in branches:
        exact = None if exact is None or branch.exact is None else exact | branch.exact
    if exact is not None and len(exact) <= _MOST_ALTERNATIVES:
        return _Found(frozenset(exact))
    best = [min(branch.told(), key=_weakness, default=()) for branch in branches]
    union = tuple(dict.fromkeys(literal for alternatives in best for literal in alternatives))
    sure = all(best) and len(union) <= _MOST_ALTERNATIVES
    return _Found(None, [union] if sure else [])


def _sequence(reader: Reader, fold: bool) -> tuple[_Found, bool]:
    """A run of pieces up to `|`, `)` or the end; and whether case is folded behind it."""
    run: frozenset[str] = _NOTHING
    whole = True
    needs: list[tuple[str, ...]] = []
    while reader.left and reader.peek not in "|)":
        piece, fold = _piece(reader, fold)
        exact = piece.exact
        if exact is not None and len(run) * len(exact) <= _MOST_ALTERNATIVES:
            run = frozenset(before + after for before in run for after in exact)
            continue
        needs += _Found(run).told() + piece.needs
        whole = False
        run = exact if exact is not None else _NOTHING
    if whole:
        return _Found(run), fold
    return _Found(None, needs + _Found(run).told()), fold


def _piece(reader: Reader, fold: bool) -> tuple[_Found, bool]:
    atom, fold = _atom(reader, fold)
    least = reader.repeat()
    if least is None:
        return atom, fold
    return _Found(None, atom.told() if least > 0 else []), fold


def _atom(reader: Reader, fold: bool) -> tuple[_Found, bool]:
    if reader.peek == "(":
        flags, closed = reader.open_group()
        inner = fold if flags is None else ("i" in flags.split("-")[0] or (fold and "i" not in flags))
        if closed:
            if reader.peek and reader.peek in "*+?{":
                raise _Doubt  # the engine repeats what stands before the flags
            return _Found(_NOTHING), inner
        found = _alternation(reader, fold=inner)
        reader.take(")")
        return found, fold
    char = reader.next()
    if char == "[":
        members = reader.rest_of_class()
        few = members is not None and 0 < len(members) <= _MOST_ALTERNATIVES
        return _one_of(members if few and members is not None else None, fold), fold
    if char == "\\":
        letter = reader.next()
        if letter in _ZERO_WIDTH:
            return _Found(_NOTHING), fold
        if letter.isalnum():
            reader.rest_of_escape(letter)
            return _Found(None), fold
        return _one_of(frozenset({letter}), fold), fold
    if char in "^$":
        return _Found(_NOTHING), fold
    return _one_of(None if char in ".\n" else frozenset({char}), fold), fold


def _one_of(chars: frozenset[str] | None, fold: bool) -> _Found:
    """One of these characters. Lower-casing is byte-wise, so a folded one must be ASCII or have no
    case; the few characters that fold into ASCII switch the whole prefilter off (regions.View)."""
    if chars is None or "\n" in chars:
        return _Found(None)
    if not fold:
        return _Found(chars)
    sure = all(char.isascii() or char.lower() == char.upper() for char in chars)
    return _Found(frozenset(char.lower() for char in chars) if sure else None)
