"""A set of paths watched for one kind of event in one inotify instance, each told once a drain.

A path that had many events in one drain is flooding: its watch becomes IN_ONESHOT, which the
kernel drops after the first event (and says IN_IGNORED), and each drain sets it anew. So a
flood costs two events a drain and cannot overflow the queue; what is missed in between
is older than the drain that tells of the first one. Others keep a plain watch, which is the cheaper
one at the rate of a spinner (50 terminals at 10 Hz: 0.14 % of a core against 0.55 % beyond an empty
loop). A flood that has calmed down loses its mark at the next renewal.

A path may come to mean another file while the watch stands on the old one, which stays
silent: the numbers of terminals are reused at once. `renew` sets all watches again (same file,
same watch) and so notices.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from trayagent.host.inotify import IGNORED, ONESHOT, OVERFLOW, Inotify

FLOOD = 16  # events of one path in one drain (100 ms); a screen is redrawn in one to five writes
_UNWATCHABLE = frozenset({errno.EACCES, errno.EPERM, errno.ENOSPC, errno.ENOMEM})


class Watches:
    """See above. kind: the inotify mask. Raises OSError if there is no instance to be had."""

    def __init__(self, kind: int) -> None:
        self.instance = Inotify()
        self.refused: set[str] = set()
        self._kind = kind
        self._number: dict[str, int] = {}
        self._path: dict[int, str] = {}
        self._bytes: dict[str, bytes] = {}
        self._unarmed: set[str] = set()
        self._flooding: set[str] = set()
        self._fired: dict[str, int] = {}

    def want(self, paths: frozenset[str]) -> frozenset[str]:
        """Watch exactly these paths; returns the new ones."""
        for path in self._bytes.keys() - paths:
            del self._bytes[path]
            self._unarmed.discard(path)
            self._flooding.discard(path)
            self.refused.discard(path)
            number = self._number.pop(path, None)
            if number is not None:
                self._path.pop(number, None)
                self.instance.remove(number)
        new = frozenset(paths - self._bytes.keys())
        for path in new:
            self._bytes[path] = os.fsencode(path)
        self._arm(new)
        return new

    def drain(self) -> tuple[set[str], bool, set[tuple[int, bytes]]]:
        """(paths with an event since the last drain, whether events were lost, (number, name) of
        events that belong to no path of ours). `rearm` must follow."""
        fired: dict[str, int] = {}
        foreign: set[tuple[int, bytes]] = set()
        overflow = False
        for number, mask, name in self.instance.read():
            if mask & OVERFLOW:
                overflow = True
            elif mask & IGNORED:
                path = self._path.pop(number, None)
                if path is not None and self._number.get(path) == number:
                    del self._number[path]
                    self._unarmed.add(path)
            else:
                path = self._path.get(number)
                if path is None:
                    foreign.add((number, name))
                else:
                    fired[path] = fired.get(path, 0) + 1
        self._fired = fired
        return set(fired), overflow, foreign

    def rearm(self) -> None:
        """Set the watches that ended again, and tame those that flood."""
        for path, count in self._fired.items():
            if count > FLOOD and path in self._bytes:
                self._flooding.add(path)
                self._unarmed.add(path)
        if self._unarmed:
            unarmed, self._unarmed = self._unarmed, set()
            self._arm(unarmed)

    def renew(self, paths: Iterable[str] | None = None) -> set[str]:
        """Set all watches again, or those of these paths; returns the paths that mean another file
        now, or were unwatched."""
        due = self._bytes.keys() if paths is None else self._bytes.keys() & set(paths)
        self._unarmed -= due
        if paths is None:
            self._flooding &= self._fired.keys()
        return self._arm(due)

    def close(self) -> None:
        """Give the instance back."""
        self.instance.close()

    def _arm(self, paths: Iterable[str]) -> set[str]:
        """Set watches; one that no longer exists waits for `renew`. Returns those whose number changed."""
        changed = set()
        for path in paths:
            try:
                once = ONESHOT if path in self._flooding else 0
                number = self.instance.add(self._bytes[path], self._kind | once)
            except OSError as error:
                if error.errno in _UNWATCHABLE:
                    self.refused.add(path)
                self._number.pop(path, None)
                continue
            self.refused.discard(path)
            old = self._number.get(path)
            if old != number:
                if old is not None:
                    self.instance.remove(old)
                changed.add(path)
                self._number[path] = number
                self._path[number] = path
        return changed
