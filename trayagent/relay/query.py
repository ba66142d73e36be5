"""The question whether anybody listens to OSC 7501, found in what a command writes, and its answer.

Program Status Protocol: `OSC 7501 ; ? ST` asks, and the same with the states and kinds that are
understood answers, ended as the question was. Agents give up when the terminal's answer to DA1,
which they ask for next, comes first.
"""

from __future__ import annotations

_MARK = b"7501;?"
_OPENERS = (b"\x1b]", b"\x9d")
_ENDS = (b"\x07", b"\x1b\\", b"\x9c")
_ANSWER = b"\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth"
_KEPT = len(b"\x1b]7501;?\x1b")


class Queries:
    """Finds the questions in a stream that is split anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def answers(self, data: bytes) -> list[bytes]:
        """One answer for each question that `data` completes."""
        text = self._rest + data if self._rest else data
        found, done, at = [], 0, text.find(_MARK)
        while at >= 0:
            end = next((end for end in _ENDS if text.startswith(end, at + len(_MARK))), b"")
            if end and any(text[:at].endswith(opener) for opener in _OPENERS):
                found.append(_ANSWER + end)
                done = at + len(_MARK) + len(end)
            at = text.find(_MARK, at + 1)
        self._rest = text[max(done, len(text) - _KEPT) :]
        return found
