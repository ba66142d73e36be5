"""Foreign words for states, translated once at the border."""

from __future__ import annotations

from trayagent.model.states import State

_FOREIGN = {
    "needs_input": State.BLOCKED,
    "needs-input": State.BLOCKED,
    "attention": State.BLOCKED,
    "errored": State.ERROR,
}


def state_of(word: str) -> State | None:
    """The state that a word of any of the protocols means, None for none of them."""
    word = word.strip().lower()
    if word in _FOREIGN:
        return _FOREIGN[word]
    try:
        return State(word)
    except ValueError:
        return None


def clean(text: str, limit: int) -> str:
    """Text from outside as one line: no control or bidi characters, at most `limit` characters."""
    kept = "".join(ch if ch.isprintable() else " " for ch in text if ch not in _UNSEEN)
    return " ".join(kept.split())[:limit]


# Bidi controls and zero-width characters: they make text read as something else than it is.
_UNSEEN = frozenset(
    map(chr, (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x061C, 0xFEFF))
)
