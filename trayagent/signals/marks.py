"""Shell marks: OSC 133 (FinalTerm), which a shell writes around its prompts and commands."""

from __future__ import annotations


def mark(body: bytes) -> str:
    """The letter of a mark (A prompt, B input, C command, D its end), `` for another OSC's body."""
    if body[:4] != b"133;" or body[4:5] not in (b"A", b"B", b"C", b"D") or body[5:6] not in (b"", b";"):
        return ""
    return chr(body[4])
