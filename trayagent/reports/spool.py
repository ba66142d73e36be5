"""The spool: small files in which an agent's hooks tell us that they fired.

The folder is `spool` in the runtime folder (`ipc/paths.py` has the rule, the same in shell), 0700 and
ours. A hook's script writes a file whose name begins with a dot, and then renames it to a name
that does not: only then is it read, whole, and removed. Lines are `key=value`; a value goes to the
end of its line, as it is, so that a POSIX shell quotes nothing:

    v=1
    agent=claude
    event=PreToolUse
    pid=4711
    tmux=/tmp/tmux-1000/default,412,0
    pane=%5
    field.session_id=ff32c408
    field.tool_name=Bash

| key          | what                                                                            |
| ------------ | ------------------------------------------------------------------------------- |
| `v`          | 1; another version is refused                                                   |
| `agent`      | id of the manifest whose `[hooks]` are meant                                     |
| `event`      | the agent's own name of the event                                               |
| `pid`        | a process above the hook (`$PPID`); may stand several times, the nearest first  |
| `tmux`       | `$TMUX`, and                                                                     |
| `pane`       | `$TMUX_PANE`, where they are set                                                 |
| `tty`        | the path of the terminal, where it is known                                     |
| `field.NAME` | a value of a field that the manifest asks for; once for each value of a list   |

Other keys are passed over, for later versions. A file has at most 8 KiB and 64 lines of 2 KiB. A
file that is too large, too old (60 s), no plain file of ours, linked twice or to elsewhere, or no
such lines, is removed and not believed; of more than 512 files the oldest go unread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

FOLDER = "spool"
MOST_FILES = 512
MOST_BYTES = 8192
MOST_LINES = 64
LINE_BYTES = 2048
MOST_PIDS = 16
OLD = 60.0
LAST_PID = 2**31 - 1

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Note:
    """One hook that fired. at: epoch seconds of its writing. server_pid: of the tmux server, 0 if unknown."""

    agent: str
    event: str
    at: float
    pids: tuple[int, ...] = ()
    socket: str = ""
    server_pid: int = 0
    pane: str = ""
    tty: str = ""
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Garbage(Exception):
    """The file is not what the format says; the text names what is wrong, and none of its content."""


def parse(data: bytes, at: float) -> Note:
    """The note in a file's bytes. Raises Garbage."""
    if len(data) > MOST_BYTES:
        raise Garbage(f"longer than {MOST_BYTES} bytes")
    lines = data.split(b"\n")
    if len(lines) > MOST_LINES + 1 or any(len(line) > LINE_BYTES for line in lines):
        raise Garbage(f"more than {MOST_LINES} lines, or one of more than {LINE_BYTES} bytes")
    told: dict[str, list[str]] = {}
    for line in lines:
        key, equals, value = line.partition(b"=")
        if equals:
            told.setdefault(_text(key), []).append(_text(value))
        elif line.strip():
            raise Garbage("a line without a key")
    if told.get("v") != ["1"]:
        raise Garbage("not version 1")
    agent, event = _one(told, "agent"), _one(told, "event")
    if not agent or not event:
        raise Garbage("agent or event is missing")
    socket, server_pid, _ = (*_one(told, "tmux").rsplit(",", 2), "", "")[:3]
    return Note(
        agent=agent,
        event=event,
        at=at,
        pids=tuple(pid for text in told.get("pid", ())[:MOST_PIDS] if (pid := _pid(text))),
        socket=socket,
        server_pid=_pid(server_pid),
        pane=_one(told, "pane"),
        tty=_one(told, "tty"),
        fields={key[6:]: tuple(values) for key, values in told.items() if key.startswith("field.")},
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removesuffix("\r")


def _one(told: dict[str, list[str]], key: str) -> str:
    values = told.get(key, [""])
    if len(values) > 1:
        raise Garbage(f"{key} is there twice")
    return values[0]


def _pid(text: str) -> int:
    """A process number, 0 for what is none."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        return 0
    return int(text) if int(text) <= LAST_PID else 0


def collect(folder: int, now: float, report: Report) -> list[Note]:
    """All notes of the folder (a descriptor), oldest first; what is read or refused is removed.

    now: epoch seconds. report: told what was refused, and why. Raises OSError when the folder itself
    cannot be read."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            status = _status(entry.name, folder)
            if status is None or (entry.name.startswith(".") and now - status.st_mtime <= OLD):
                continue  # gone, or being written
            found.append((status.st_mtime_ns, entry.name))
    found.sort()
    dropped = found[: max(len(found) - MOST_FILES, 0)]
    if dropped:
        report(f"more than {MOST_FILES} files at once: the oldest were not read")
        for _, name in dropped:
            _remove(name, folder, report)
    notes = []
    for _, name in found[len(dropped) :]:
        note = None if name.startswith(".") else _note(name, folder, now, report)
        if note is not None:
            notes.append(note)
        _remove(name, folder, report)
    return notes


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _note(name: str, folder: int, now: float, report: Report) -> Note | None:
    """The note in one file; None, and told, if it is not believed. An old one is simply old."""
    try:
        # A pipe would not be waited for, and a link not followed.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        report(f"a file that cannot be opened ({error.strerror})")
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink != 1:
            raise Garbage("no plain file of ours")
        if now - status.st_mtime > OLD:
            return None
        return parse(os.read(file, MOST_BYTES + 1), min(status.st_mtime, now))
    except Garbage as error:
        report(f"a file that is no hook's: {error}")
        return None
    finally:
        os.close(file)


def _remove(name: str, folder: int, report: Report) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return  # somebody else has
    except OSError as error:
        report(f"something that cannot be removed ({error.strerror}); have a look")
