"""The broker's records in a file, so that a daemon that is started again goes on where the last one was.

The file lies in the runtime folder, beside the socket: processes, their numbers and their start
times mean nothing after a reboot, and neither does the file. It is replaced as a whole (0600).
What it holds was said by programs of this user; it is checked all the same, entry by entry.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.states import State
from trayagent.reports.broker import Broker, Record

_LIMIT = 64 * 1024 * 1024


def save(path: Path, broker: Broker) -> str | None:
    """Replace the file by what the broker knows; returns what went wrong, if anything."""
    panes = broker.records.keys() | broker.retired.keys()
    data = {
        key.token: {
            "record": _record_json(broker.records[key]) if key in broker.records else None,
            "retired": list(broker.retired.get(key, ())),
        }
        for key in sorted(panes)
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            json.dump({"panes": data}, file)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        return f"{path}: reports cannot be kept over a restart ({error.strerror})"
    return None


def load(path: Path, broker: Broker) -> str | None:
    """Take over what the file holds and still lives; returns what was wrong with it, if anything."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_LIMIT))
        panes = dict(data["panes"])
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{path}: cannot be read ({error.strerror}); earlier reports are forgotten"
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{path}: is damaged; earlier reports are forgotten"
    damaged = 0
    for token, entry in panes.items():
        try:
            retired = [str(one) for one in entry["retired"]]
            broker.restore(PaneKey.from_token(token), _record(entry["record"]), retired)
        except (ValueError, KeyError, TypeError):
            damaged += 1
    return f"{path}: {damaged} entries are damaged and forgotten" if damaged else None


def _record_json(record: Record) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__slots__}
    return {**values, "owner": [record.owner.pid, record.owner.started], "state": record.state.value}


def _record(data: dict[str, Any] | None) -> Record | None:
    """Raises ValueError, KeyError or TypeError for what is no record."""
    if data is None:
        return None
    pid, started = data["owner"]
    return Record(
        agent=str(data["agent"]),
        owner=ProcessKey(int(pid), int(started)),
        group=int(data["group"]),
        state=State(data["state"]),
        at=float(data["at"]),
        instance=str(data["instance"]),
        sequence=int(data["sequence"]),
        message=str(data["message"]),
        session_id=str(data["session_id"]),
        resume=tuple(str(argument) for argument in data["resume"]),
    )
