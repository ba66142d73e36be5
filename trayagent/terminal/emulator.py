"""A terminal without a window: bytes in, the text of its screen out.

For tmux panes nobody needs this, since tmux is one; it draws recordings, and terminals whose bytes
are all we have. The cells are grid.py's (pyte); the parser is ours, because pyte's leaves the
bodies of unknown sequences on the screen and raises on some that agents send. One regular
expression splits the text into runs, sequences and controls; a table names what each does; what
is in no table is ignored, as terminals do. A sequence that is not complete waits for the next
bytes, and a string (OSC, DCS, APC, PM, SOS) is kept up to MAX_STRING, then only its end is sought.
Sources: ECMA-48; xterm's ctlseqs; https://vt100.net/emu/dec_ansi_parser.
"""

from __future__ import annotations

import codecs
import re

from trayagent.terminal.grid import Grid

MAX_STRING = 4096
MAX_PARAMETER = 9999
MAX_SEQUENCE = 256  # a CSI longer than this is nobody's

_TOKEN = re.compile(
    r"(?P<run>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<mark>[<-?]?)(?P<params>[0-;]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    r"|(?P<string>\x1b[\]PX^_k])"
    r"|\x1b(?P<set>[ -/]+)(?P<of>[0-~])"
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
)  # fmt: skip
_STRING_END = re.compile(r"\x1b\\|[\x18\x1a]|\x1b(?=[^\\])")
_OSC_END = re.compile(r"\x07|\x1b\\|[\x18\x1a]|\x1b(?=[^\\])")
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[ -/]*)")

# Final byte of a CSI without mark or intermediate bytes -> (method of Grid, most arguments it takes).
_CSI: dict[str, tuple[str, int]] = {
    "@": ("insert_characters", 1),
    "A": ("cursor_up", 1),
    "B": ("cursor_down", 1),
    "C": ("cursor_forward", 1),
    "D": ("cursor_back", 1),
    "E": ("cursor_down1", 1),
    "F": ("cursor_up1", 1),
    "G": ("cursor_to_column", 1),
    "H": ("cursor_position", 2),
    "I": ("tab_forward", 1),
    "!p": ("soft_reset", 0),
    "J": ("erase_in_display", 1),
    "K": ("erase_in_line", 1),
    "L": ("insert_lines", 1),
    "M": ("delete_lines", 1),
    "P": ("delete_characters", 1),
    "S": ("scroll_up", 1),
    "T": ("scroll_down", 1),
    "X": ("erase_characters", 1),
    "Z": ("tab_back", 1),
    "`": ("cursor_to_column", 1),
    "a": ("cursor_forward", 1),
    "b": ("repeat", 1),
    "d": ("cursor_to_line", 1),
    "e": ("cursor_down", 1),
    "f": ("cursor_position", 2),
    "g": ("clear_tab_stop", 1),
    "h": ("set_mode", 16),
    "l": ("reset_mode", 16),
    "r": ("set_margins", 2),
    "s": ("save_cursor", 0),
    "u": ("restore_cursor", 0),
}
_ESCAPE = {
    "7": "save_cursor",
    "8": "restore_cursor",
    "D": "index",
    "E": "next_line",
    "H": "set_tab_stop",
    "M": "reverse_index",
    "c": "reset",
}
_CONTROL = {
    "\b": "backspace",
    "\t": "tab",
    "\n": "linefeed",
    "\v": "linefeed",
    "\f": "linefeed",
    "\r": "carriage_return",
    "\x0e": "shift_out",
    "\x0f": "shift_in",
}


class Emulator:
    """One terminal of `cols` columns and `rows` rows.

    title: the last title that was set (OSC 0 or 2), "" if none. progress: the payload of the
    last OSC 9;4, such as `4;3;`, "" if none or once it was removed (`4;0`).
    """

    def __init__(self, cols: int, rows: int) -> None:
        self.title = ""
        self.progress = ""
        self._grid = Grid(cols, rows)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._string: tuple[str, str] | None = None  # the introducer and the body so far
        self._sequences = {key: (getattr(self._grid, name), most) for key, (name, most) in _CSI.items()}
        self._escapes = {key: getattr(self._grid, name) for key, name in _ESCAPE.items()}
        self._controls = {key: getattr(self._grid, name) for key, name in _CONTROL.items()}

    @property
    def alternate(self) -> bool:
        """Whether the second screen (1049) is shown."""
        return self._grid.alternate

    @property
    def cols(self) -> int:
        """Columns."""
        return int(self._grid.columns)

    @property
    def rows(self) -> int:
        """Rows."""
        return int(self._grid.lines)

    def text(self) -> str:
        """All rows, joined by newlines, trailing blanks of each row removed."""
        return self._grid.text()

    def resize(self, cols: int, rows: int) -> None:
        """The window changed; rows are cut or added, not wrapped anew."""
        self._grid.resize(rows, cols)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the program's output, split anywhere."""
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        at = 0
        while at < len(text):
            if self._string is not None:
                at = self._in_string(text, at)
            elif token := _TOKEN.match(text, at):
                at = token.end()
                self._act(token)
            else:
                text, at = self._broken(text, at)

    def _act(self, token: re.Match[str]) -> None:
        """Do what one complete token says."""
        match token.lastgroup:
            case "run":
                self._grid.draw(token["run"])
            case "final":
                self._control_sequence(token["mark"], token["params"], token["middle"] + token["final"])
            case "control":
                if do := self._controls.get(token["control"]):
                    do()
            case "escape":
                if do := self._escapes.get(token["escape"]):
                    do()
            case "string":
                self._string = (token["string"], "")
            case "of":
                if token["set"] in ("(", ")"):
                    self._grid.define_charset(token["of"], token["set"])
                elif token["set"] == "#" and token["of"] == "8":
                    self._grid.alignment_display()

    def _control_sequence(self, mark: str, params: str, final: str) -> None:
        """One CSI sequence; `final` is its last byte with the intermediate bytes before it."""
        if final not in self._sequences or ":" in params or not (mark == "" or mark + final in ("?h", "?l")):
            return
        do, most = self._sequences[final]
        numbers = [min(int(number[-5:] or 0), MAX_PARAMETER) for number in params.split(";")[:most]]
        if mark:
            do(*numbers, private=True)
        else:
            do(*(numbers if params else []))

    def _in_string(self, text: str, at: int) -> int:
        """Go on inside a string from `at`; where to go on after it."""
        assert self._string is not None
        opener, body = self._string
        end = (_OSC_END if opener == "\x1b]" else _STRING_END).search(text, at)
        stop = end.start() if end else len(text)
        if end is None and text.endswith("\x1b"):
            stop -= 1
            self._rest = "\x1b"  # may be the first half of the terminator
        self._string = (opener, (body + text[at:stop])[:MAX_STRING])
        if end is None:
            return len(text)
        self._string = None
        if opener == "\x1b]" and end[0] in ("\x07", "\x1b\\"):
            self._command((body + text[at:stop])[:MAX_STRING])
        return end.end() if end[0] != "\x1b" else end.start()

    def _command(self, body: str) -> None:
        """One OSC: titles and progress."""
        code, _, value = body.partition(";")
        if code in ("0", "2"):
            self.title = value
        elif code == "9" and value.startswith("4"):
            self.progress = "" if value.startswith("4;0") or value == "4" else value

    def _broken(self, text: str, at: int) -> tuple[str, int]:
        """No token begins at `at`, which is an ESC: wait for the rest of the sequence, do a control
        inside of it at once, or give it up. The text and the place to go on from."""
        begun = _BEGUN.match(text, at)
        stop = begun.end() if begun else at + 1
        if stop == len(text):
            self._rest = text[at:] if stop - at <= MAX_SEQUENCE else ""
            return text, stop
        breaker = text[stop]
        if breaker == "\x1b":
            return text, stop
        if breaker < " " and breaker not in "\x18\x1a":
            if do := self._controls.get(breaker):
                do()
            return text[at:stop] + text[stop + 1 :], 0
        return text, stop + 1
