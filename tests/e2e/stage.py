"""What the end-to-end tests play: recorded sessions that wait for the person where the recorded one did.

`played` turns a recording into a script with a key to press at each step that a person took: to send
a prompt, and to answer a dialog. Between two keys everything comes at its recorded pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.casts import Recording, recording
from tests.support.player import Script, typed
from tests.support.tmux import IDLE, TmuxServer

# Seconds before the truth's "working" at which the prompt had not been sent yet: where keys were
# written down the truth is the moment of the key, elsewhere it is a moment after it.
SENT, SENT_UNKNOWN = 0.001, 0.1


@dataclass(frozen=True, slots=True)
class Stop:
    """A moment at which the player waits for a key. at: seconds of the recording. settled: when it
    first looked as it does then; what is drawn in between comes at once, so that no key is too early.
    dialog: it shows one."""

    at: float
    settled: float
    dialog: bool


def stops(shown: Recording) -> list[Stop]:
    """The person's steps: each prompt sent (the agent begins to work), each dialog answered."""
    found = [Stop(dialog.until, dialog.settled, True) for dialog in shown.dialogs]
    before, lead = "", SENT if shown.keys is not None else SENT_UNKNOWN
    for truth in shown.truths:
        if truth.state == "working" and before == "idle":
            found.append(Stop(truth.certain - lead, truth.certain - lead, False))
        before = truth.state
    return sorted(found, key=lambda stop: stop.at)


def played(name: str, *, pause: float = 0.0) -> Script:
    """The recording `agent/name` as a script: at its first idle prompt at once, then a key a step.

    pause: seconds between an answer and what follows."""
    shown = recording(name)
    script, at = Script(), shown.starts
    for number, stop in enumerate(stops(shown)):
        script.cast(shown.cast, at, stop.settled, at_once=number == 0)
        script.cast(shown.cast, stop.settled, stop.at, at_once=True).key()
        if stop.dialog and pause:
            script.wait(pause)
        at = stop.at
    return script.cast(shown.cast, at)


def at_dialog(name: str, number: int = 0) -> Script:
    """A script that shows the recording's dialog at once, and after a key what followed its answer."""
    shown = recording(name)
    dialog = shown.dialogs[number]
    script = Script().cast(shown.cast, shown.starts, dialog.until, at_once=True).key()
    return script.cast(shown.cast, dialog.until, _next_step(shown, dialog.until))


def asking(name: str, number: int = 0) -> Script:
    """A script that is idle, shows the recording's dialog at once after a key, and after another
    what followed its answer, until the next step that would be the person's."""
    shown = recording(name)
    dialog = shown.dialogs[number]
    sent = [stop.at for stop in stops(shown) if not stop.dialog and stop.at < dialog.until][-1]
    script = Script().cast(shown.cast, shown.starts, sent, at_once=True).key()
    script.cast(shown.cast, sent, dialog.until, at_once=True).key()
    return script.cast(shown.cast, dialog.until, _next_step(shown, dialog.until))


def _next_step(shown: Recording, after: float) -> float:
    """When the person did something next in a recording; its end if he did nothing more."""
    return next((stop.at for stop in stops(shown) if stop.at > after), float("inf"))


@dataclass(frozen=True, slots=True)
class Stage:
    """A tmux server on which agents play. folder: for scripts and project folders."""

    server: TmuxServer
    folder: Path

    def project(self, name: str) -> Path:
        """A folder that is a git project of its own, so that banners have a name for it."""
        path = self.folder / name
        (path / ".git").mkdir(parents=True, exist_ok=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        return path

    def play(
        self,
        agent: str,
        project: str,
        script: Script,
        size: tuple[int, int] = (120, 40),
        *,
        beside: bool = False,
        wrapper: str = "",
    ) -> str:
        """A new session (named like the project) in which the script plays; returns its pane.

        beside: below it in its window is another pane, which is the active one.
        wrapper: a program that starts the agent and stays its parent."""
        command = script.command(agent, self.folder, f"{project}.script")
        if wrapper:
            command = f"exec {wrapper} {typed(command)}"
        folder = str(self.project(project))
        columns, rows = size
        tall = rows + 6 if beside else rows
        pane = self.server.new_session(project, IDLE, columns, tall)
        self.server.tmux("resize-window", "-t", pane, "-x", str(columns), "-y", str(tall))  # for good
        if beside:
            self.server.tmux("select-pane", "-t", self.server.split(pane))
            self.server.tmux("resize-pane", "-t", pane, "-y", str(rows))
        assert self.server.ask("#{pane_width}x#{pane_height}", pane) == f"{columns}x{rows}"
        # Only now: what is drawn in a pane of another size would be wrapped and cut.
        self.server.tmux("respawn-pane", "-k", "-t", pane, "-c", folder, command)
        return pane

    def press(self, pane: str, *keys: str) -> None:
        """Press keys in a pane, as somebody at another terminal would."""
        self.server.tmux("send-keys", "-t", pane, *(keys or ("Enter",)))
