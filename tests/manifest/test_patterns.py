r"""What the patterns of manifests mean, checked where RE2 alone would read them otherwise."""

from __future__ import annotations

import time

import pytest

from trayagent.manifest.patterns import LiteralSet, PatternRefused, compile_pattern


def found(pattern: str, text: str, **options: bool) -> bool:
    return compile_pattern(pattern, **options).found_in(text.encode())


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^❯\s\S", "❯\u00a0x"),
        (r"^❯[\s]\S", "❯\u00a0x"),
        (r"\s", "\u2003"),
        (r"^\s$", "\x0b"),
        (r"^\S+$", "naïve…"),
        (r"^[\S]+$", "naïve…"),
        (r"^\w+$", "naïve_日本"),
        (r"^[\w-]+$", "naï-ve"),
        (r"^\W+$", "… ❯"),
        (r"^[\W]+$", "… ❯"),
        (r"^\d+$", "٣4"),
        (r"^[\d]+$", "٣4"),
        (r"^\D+$", "ab…"),
        (r"^[\D]$", "…"),
        (r"\x{276f}", "❯"),
        (r"\u{276F}", "❯"),
        (r"\u276f", "❯"),
        (r"\U0000276f", "❯"),
        (r"^[\u2801-\u28ff] ", "⠹ x"),
        (r"^[\u{25d0}-\u{25d3}]", "◑"),
        (r"^\p{Alphabetic}+$", "aßⒶ"),
        (r"^[\p{Alphabetic}\d]+$", "aß1"),
        (r"^\P{Alphabetic}$", "1"),
        (r"^\p{Lu}", "Ä"),
        (r"(?i)ESC", "esc"),
        (r"a(?i)B", "ab"),
        (r"a(?i:B)c", "abc"),
        (r"(?u)a", "a"),
        (r"(?mu)^b$", "a\nb\nc"),
        (r"(?s)a.b", "a\nb"),
        (r"a.*?c", "abcbc"),
        (r"\Aab\z", "ab"),
        (r"[[:alpha:]]", "x"),
        (r"[]x]", "]"),
        (r"[a[b]", "["),
    ],
)
def test_a_pattern_is_found(pattern: str, text: str) -> None:
    assert found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\S", " \u00a0\u2003\t"),
        (r"[^\s]", "\u00a0"),
        (r"\W", "naïve"),
        (r"\d", "x"),
        (r"a$", "a\n"),
        (r"a\z", "a\n"),
        (r"^b", "a\nb"),
        (r"a.b", "a\nb"),
        (r"ESC", "esc"),
        (r"a(?i:B)c", "abC"),
    ],
)
def test_a_pattern_is_not_found(pattern: str, text: str) -> None:
    assert not found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(?=a)b", "look-around"),
        (r"(?<!a)b", "look-around"),
        (r"(a)\1", "back-references"),
        (r"[a-z&&[^b]]", "set operation"),
        (r"(?x) a b", "flag x"),
        (r"\u{110000}", "code point"),
        (r"\u{zz}", "code point"),
        (r"\u12", "code point"),
        (r"a{5000}", "repetition"),
        (r"a**", "repetition"),
        (r"(", "missing"),
        (r"a\b{start}", "word-edge"),
        ("a\\", "backslash"),
        (r"\p{Nonsense}", "character class"),
    ],
)
def test_a_refused_pattern_says_why(pattern: str, why: str) -> None:
    with pytest.raises(PatternRefused, match=why):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^b$", "a\nb\nc", True),
        (r"\Ab\z", "a\nb\nc", True),
        (r"^a\s+b$", "a\nb", False),
        (r"a[^x]b", "a\nb", False),
        (r"(?s)a.b", "a\nb", False),
        (r"a\nb", "a\nb", False),
        (r"(?i)^B", "a\nb", True),
        (r"^$", "a\n\nb", True),
    ],
)
def test_a_line_pattern_never_leaves_its_line(pattern: str, text: str, expected: bool) -> None:
    assert found(pattern, text, by_line=True) is expected


def test_time_is_linear_where_a_backtracking_engine_would_hang() -> None:
    pattern = compile_pattern(r"(a+)+$")
    begin = time.monotonic()
    assert not pattern.found_in(b"a" * 5000 + b"!")
    assert time.monotonic() - begin < 5


def test_groups_that_took_no_part_are_left_out() -> None:
    pattern = compile_pattern(r"(?P<a>x)|(?P<b>y)", captures=True)
    assert pattern.names == ("a", "b")
    assert pattern.groups(b"-y") == {"b": "y"}
    assert pattern.groups(b"-") is None
    assert pattern.each(b"xy") == [{"a": "x"}, {"b": "y"}]


def test_a_set_of_literals_names_those_that_occur() -> None:
    literals = LiteralSet((b"esc to cancel", "❯".encode(), b"absent", b"cancel"))
    assert literals.found_in("❯ esc to cancel".encode()) == {0, 1, 3}
    assert literals.found_in(b"") == frozenset()
    assert LiteralSet(()).found_in(b"x") == frozenset()


def test_more_literals_than_one_automaton_takes_are_found_all_the_same() -> None:
    many = tuple(f"literal-{at}-end".encode() for at in range(600))
    assert LiteralSet(many).found_in(b"a literal-7-end and literal-599-end") == {7, 599}
