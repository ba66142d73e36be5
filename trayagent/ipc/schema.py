"""What is said on the socket: JSON objects, one a line, version 1.

Request `{"v":1, "id":7, "verb":"list", "args":{}}`; reply `{"id":7, "ok":true, "data":{...}}` or
`{"id":7, "ok":false, "error":{"code":"no-pane", "text":"..."}}`. A stream (`events`, `watch`) is
replies with `"more":true`, one an item, ended by `{"id":7, "ok":true, "end":true}`, by an error,
or by either side hanging up. `v` and `args` may be left out.

No line is longer than 64 KiB, its newline included. A longer reply comes in parts: lines
`{"id":7, "part":"...", "more":true}`, the last without `more`; their texts joined are the reply.

`VERBS` is the table of what may be asked; requests are checked against it before a handler sees
them. Codes of errors: `bad-request version too-long slow busy refused unknown-verb bad-args
no-pane ambiguous failed internal`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

VERSION = 1
LIMIT = 64 * 1024

Json = dict[str, Any]

TEXT = (str,)
WHOLE = (int,)
NUMBER = (int, float)
FLAG = (bool,)
LIST = (list,)
NUMBER_OR_NONE = (int, float, type(None))

# How a pane is named: `pane` (`SERVER:%5`, `%5`, `/dev/pts/7`), else where the command was typed:
# `tmux_pane` with `socket` and `server_pid` (from $TMUX), or `tty`.
PANE = {"pane": TEXT, "tmux_pane": TEXT, "socket": TEXT, "server_pid": WHOLE, "tty": TEXT}


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that may be asked. data: the keys of the reply's data, in words.
    needs_pane: one of PANE must be there. stream: the reply is a stream."""

    args: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    data: str = ""
    stream: bool = False
    needs_pane: bool = False


# Who reports, and his how-manieth word it is (reports/request.py has the limits).
_OWNER = {"owner_pid": WHOLE, "instance": TEXT, "sequence": WHOLE, **PANE}
_MUTE = {"scope": TEXT, "value": TEXT, **PANE}

VERBS: dict[str, Verb] = {
    "list": Verb(data="panes: list of pane objects"),
    "watch": Verb(data="panes: as list, at once and after each change", stream=True),
    "get": Verb(PANE, "pane: one pane object", needs_pane=True),
    "explain": Verb(
        PANE, "pane labels decision identity manifest trace claims attention looks alerts", needs_pane=True
    ),
    "capture": Verb(
        PANE, "agent cols rows title progress screen pane_current_command dir process_tree", needs_pane=True
    ),
    "events": Verb({"pane": TEXT}, "one event an item: type, at (epoch seconds), ...", stream=True),
    "history": Verb(
        {
            "limit": WHOLE,
            "pane": TEXT,
            "since": NUMBER,
            "reason": TEXT,
            "state": TEXT,
            "agent": TEXT,
            "project": TEXT,
            "unread": FLAG,
        },
        "entries: newest first",
    ),
    "status": Verb(
        data="version pid counts needs_you longest_wait paused quiet sounds tooltip config problems"
    ),
    "jump": Verb(PANE, "pane text: where it went, or what to do", needs_pane=True),
    "next": Verb(data="pane text"),
    "back": Verb(data="pane text"),
    "mute": Verb({"seconds": NUMBER_OR_NONE, **_MUTE}, "text, until (epoch seconds or null: always)"),
    "unmute": Verb(_MUTE, "text"),
    "read": Verb({"all": FLAG, **PANE}, "text"),
    "forget": Verb(PANE, "text", needs_pane=True),
    "pause": Verb({"seconds": NUMBER_OR_NONE}, "text, until (epoch seconds or null: until unpaused)"),
    "unpause": Verb(data="text"),
    "report": Verb(
        {**_OWNER, "agent": TEXT, "status": TEXT, "message": TEXT, "session_id": TEXT, "resume": LIST},
        "text",
        needs_pane=True,
    ),
    "release": Verb(_OWNER, "text", needs_pane=True),
    "set-state": Verb({"state": TEXT, "message": TEXT, **PANE}, "text", needs_pane=True),
    "info": Verb(PANE, "pane record retired claims", needs_pane=True),
    "wait": Verb(PANE, "pane state, at once and after each change", stream=True, needs_pane=True),
    "stop": Verb(data="text"),
    "version": Verb(data="version protocol pid"),
    "manifests": Verb(data="manifests: id version source path problem"),
    "doctor": Verb(data="checks: name ok text hint"),
    "reload": Verb(data="text problems"),
    "sounds": Verb(data="mode config_mode volume while_locked players sounds: scope name file found"),
    "sounds-mode": Verb({"mode": TEXT}, "text mode"),
    "sounds-test": Verb({"state": TEXT, "volume": NUMBER}, "text: what was heard"),
    "test-alert": Verb({"delay": NUMBER, "state": TEXT}, "text"),
}


class VerbError(Exception):
    """A request was refused: code is one of the schema's words, text is for the person.

    fatal: the connection cannot be understood any further. id: of the request, if it had one.
    """

    def __init__(self, code: str, text: str, *, fatal: bool = False, id: int | str | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.fatal, self.id = code, text, fatal, id


@dataclass(frozen=True, slots=True)
class Request:
    """One checked request: the verb is in VERBS and the arguments have the table's types."""

    id: int | str | None
    verb: str
    args: Json


def encode(message: Json) -> bytes:
    """One line. Text that is no Unicode (raw bytes of a title) becomes `?`, never an error."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def request_line(verb: str, args: Json, id: int = 1) -> bytes:
    """A request as one line."""
    return encode({"v": VERSION, "id": id, "verb": verb, "args": args})


def parse_request(line: bytes) -> Request:
    """The request in one line (without or with its newline). Raises VerbError."""
    message = _object(line)
    id = message.get("id")
    if not isinstance(id, int | str | None) or isinstance(id, bool):
        raise VerbError("bad-request", "id must be a whole number or a text", fatal=True)
    try:
        return Request(id, *_checked(message))
    except VerbError as error:
        error.id = id
        raise


def _object(line: bytes) -> Json:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise VerbError("bad-request", "not a JSON object on one line", fatal=True) from error
    if not isinstance(message, dict):
        raise VerbError("bad-request", "not a JSON object on one line", fatal=True)
    return message


def _checked(message: Json) -> tuple[str, Json]:
    version = message.get("v", VERSION)
    if version != VERSION or isinstance(version, bool):
        raise VerbError(
            "version",
            f"the daemon speaks version {VERSION} of its protocol, the command version {version!r:.20}; "
            "restart the daemon: trayagent stop, then trayagent",
            fatal=True,
        )
    name, args = message.get("verb"), message.get("args", {})
    verb = VERBS.get(name) if isinstance(name, str) else None
    if verb is None or not isinstance(name, str):
        raise VerbError("unknown-verb", f"no such verb: {name!r:.40}; known are {' '.join(VERBS)}")
    if not isinstance(args, dict):
        raise VerbError("bad-args", f"{name}: args must be an object")
    check_args(name, verb, args)
    return name, args


def check_args(name: str, verb: Verb, args: Json) -> None:
    """Raise VerbError unless the arguments are known and of the table's types."""
    for key, value in args.items():
        types = verb.args.get(key)
        if types is None:
            known = ", ".join(verb.args) or "none"
            raise VerbError("bad-args", f"{name}: unknown argument {key!r:.40}; known: {known}")
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in types)
            raise VerbError("bad-args", f"{name}: {key} must be {wanted}, not {type(value).__name__}")
    if verb.needs_pane and not (args.keys() & {"pane", "tmux_pane", "tty"}):
        raise VerbError("bad-args", f"{name}: which pane? Name one (SERVER:%5), or run it inside a pane")


def success(id: int | str | None, data: Json, *, more: bool = False) -> Json:
    """The reply that carries data; with `more`, one item of a stream."""
    reply: Json = {"id": id, "ok": True, "data": data}
    return {**reply, "more": True} if more else reply


def end(id: int | str | None) -> Json:
    """The reply that ends a stream."""
    return {"id": id, "ok": True, "end": True}


def failure(id: int | str | None, code: str, text: str) -> Json:
    """The reply that refuses."""
    return {"id": id, "ok": False, "error": {"code": code, "text": text}}


def lines(reply: Json) -> Iterator[bytes]:
    """The reply as one line, or as several parts where it is longer than LIMIT."""
    whole = encode(reply)
    if len(whole) <= LIMIT:
        yield whole
        return
    text, size = whole[:-1].decode(), LIMIT // 8  # a character takes up to 6 bytes once escaped
    for start in range(0, len(text), size):
        part: Json = {"id": reply.get("id"), "part": text[start : start + size]}
        yield encode({**part, "more": True} if start + size < len(text) else part)


def join_parts(parts: list[str]) -> Json:
    """The reply whose parts these are. Raises ValueError if they are not one."""
    reply = json.loads("".join(parts))
    if not isinstance(reply, dict):
        raise ValueError("the parts of a reply do not make an object")
    return reply
