"""The player of the tests: what it shows, as whom, and that it waits for a real key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import player
from tests.support.casts import frames, recording, still
from tests.support.player import Script, read_marks, typed
from tests.support.tmux import TmuxServer

pytestmark = pytest.mark.tmux


@pytest.fixture(params=["compiled", "interpreted"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both players, one after the other."""
    if request.param == "interpreted":
        monkeypatch.setattr(player, "program", player.interpreted)
    elif player.program() == player.interpreted():
        pytest.skip("no C compiler here: only the interpreted player is tested")


@pytest.mark.usefixtures("either")
def test_a_recorded_dialog_stands_until_a_key_answers_it(tmp_path: Path) -> None:
    session = recording("claude/shell")
    dialog = session.dialogs[0]
    after = next(truth for truth in session.truths if truth.certain > dialog.until)
    script = Script(speed=50).cast(session.cast, stop=dialog.until, marks={"dialog": dialog.settled}).key()
    script.cast(session.cast, dialog.until, after.certain).mark("answered")
    log = tmp_path / "log"
    with TmuxServer() as server:
        began = time.clock_gettime(time.CLOCK_BOOTTIME)
        pane = server.new_session(
            command=script.command("claude", tmp_path, log=log),
            columns=session.cast.cols,
            rows=session.cast.rows + 1,
        )
        server.wait(lambda: "dialog" in read_marks(log), "the dialog")
        asked = still(frames(session.cast, 0.0, dialog.until)[-1][1])
        server.wait(lambda: still(server.screen(pane)) == asked, "its last frame")
        assert began < read_marks(log)["dialog"] < time.clock_gettime(time.CLOCK_BOOTTIME)
        server.tmux(
            "send-keys", "-t", pane, "-H", "1b", "5b", "3f", "31", "3b", "32", "63"
        )  # answers a query
        time.sleep(0.2)
        assert "answered" not in read_marks(log)
        server.tmux("send-keys", "-t", pane, "1")
        server.wait(lambda: "answered" in read_marks(log), "the answer to be taken")


@pytest.mark.usefixtures("either")
def test_escape_alone_is_a_key(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = Script().mark("ready").key().mark("answered")
    with TmuxServer() as server:
        pane = server.new_session(command=script.command("claude", tmp_path, log=log))
        server.wait(lambda: "ready" in read_marks(log), "the player")
        server.tmux("send-keys", "-t", pane, "Escape")
        server.wait(lambda: "answered" in read_marks(log), "the answer to be taken")


@pytest.mark.usefixtures("either")
def test_the_process_is_named_like_the_agent_and_its_shell_gets_its_status(tmp_path: Path) -> None:
    script = Script().output(b"here").key().exit(7)
    with TmuxServer() as server:
        pane = server.new_session(command="exec bash --norc --noprofile")
        server.tmux(
            "send-keys", "-t", pane, "-l", typed(script.command("claude", tmp_path)) + "; echo status $?\n"
        )
        server.wait(lambda: "here" in server.screen(pane).split("\n")[-1] + server.screen(pane), "the player")
        server.wait(lambda: server.ask("#{pane_current_command}", pane) == "claude", "the name")
        shell = server.ask("#{pane_pid}", pane)
        child = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0]
        assert Path(f"/proc/{child}/comm").read_text() == "claude\n"
        assert Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0] == b"claude"
        server.tmux("send-keys", "-t", pane, "y")
        server.wait(lambda: "status 7" in server.screen(pane), "its end")


@pytest.mark.usefixtures("either")
def test_a_script_can_be_played_for_ever(tmp_path: Path) -> None:
    script = Script().output(b"a", 0.01)
    with TmuxServer() as server:
        pane = server.new_session(command=script.command("claude", tmp_path, options=("-l", "-s", "2")))
        server.wait(lambda: server.screen(pane).count("a") > 20, "many rounds")
