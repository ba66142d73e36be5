"""The person's own programs, real ones: xterm, xclip, an editor in an xterm."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.desktop.ears import eventually
from tests.support.desktop import Desktop, need
from trayagent.desktop.programs import Launcher, NotStarted, our_command
from trayagent.model.events import Programs

pytestmark = pytest.mark.desktop

Make = Callable[..., None]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with nothing but links to the programs that a test asks for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def link(tools: Path, *programs: str) -> None:
    for program in programs:
        need(program)
        (tools / program).symlink_to(f"/usr/bin/{program}")


def script(tools: Path, name: str, text: str) -> None:
    (tools / name).write_text(f"#!/bin/sh\n{text}\n")
    (tools / name).chmod(0o700)


def test_what_is_there_is_found_and_without_a_display_there_is_nothing(tools: Path) -> None:
    on_x = {"PATH": str(tools), "DISPLAY": ":7"}
    assert Launcher(on_x).found() == Programs()
    link(tools, "xterm")
    assert Launcher(on_x).found() == Programs(terminal=True, editor=True)
    (tools / "xterm").unlink()
    script(tools, "xdg-open", "")
    script(tools, "wl-copy", "")
    assert Launcher(on_x).found() == Programs(editor=True)
    assert Launcher({**on_x, "WAYLAND_DISPLAY": "w"}).found() == Programs(editor=True, clipboard=True)
    assert Launcher({"PATH": str(tools)}).found() == Programs()
    assert Launcher({"PATH": str(tools)}, lambda: {"DISPLAY": ":7"}).found().editor, "found after our start"


async def test_a_command_runs_in_a_terminal_as_the_person_himself_would_start_it(
    desktop: Desktop, tmp_path: Path
) -> None:
    need("xterm")
    said = tmp_path / "said"
    ours = {"TERMINAL": "xterm -T 'my own'", "TMUX": "x,1,0", "TMUX_PANE": "%1", "WINDOWID": "5"}
    launcher = Launcher({**desktop.env, **ours})
    text = 'printf "%s,%s,%s,%s" "$0" "$1" "${TMUX-none}" "$WINDOWID" > "$2.new"; mv "$2.new" "$2"'
    assert launcher.in_terminal(["sh", "-c", text, "a b", "'c'", str(said)], hold="always") == "xterm"
    await eventually(said.exists, "the command's word")
    *words, window = said.read_text().split(",")
    assert words == ["a b", "'c'", "none"]
    assert window not in ("", "5"), "the terminal's own window"
    assert desktop.windows("^my own$") == [int(window)], "it stays until Enter is pressed"
    desktop.xdotool("windowfocus", "--sync", window)
    desktop.key("Return")
    await eventually(lambda: not desktop.windows("^my own$"), "the window is closed")


@pytest.mark.parametrize(("command", "stays"), [("true", False), ("false", True)])
async def test_a_terminal_may_stay_after_a_failure_only(desktop: Desktop, command: str, stays: bool) -> None:
    need("xterm")
    launcher = Launcher({**desktop.env, "TERMINAL": "xterm -T held"})
    launcher.in_terminal([command], hold="failed")
    launcher.in_terminal(["sh", "-c", "exit 1"], hold="always")
    await eventually(lambda: len(desktop.windows("^held$")) == 1 + stays, "the windows that stay")


async def test_each_terminal_gets_a_command_in_its_own_way(tools: Path) -> None:
    env = {"PATH": f"{tools}:/usr/bin:/bin", "DISPLAY": ":7", "HOME": str(tools)}
    for name, before in (
        ("kitty", "-e"),
        ("gnome-terminal", "--"),
        ("xfce4-terminal", "-x"),
        ("wezterm", "start --"),
    ):
        said = tools / f"{name}.said"
        script(tools, name, f'printf "%s|" "$@" > {said}.new; mv {said}.new {said}')
        Launcher({**env, "TERMINAL": name}).in_terminal(["a", "b c"])
        await eventually(said.exists, f"the word of {name}")
        assert said.read_text() == "|".join([*before.split(), "a", "b c", ""])


def test_no_terminal_is_said_with_what_to_do(tools: Path) -> None:
    with pytest.raises(NotStarted, match="set TERMINAL"):
        Launcher({"PATH": str(tools), "DISPLAY": ":7", "TERMINAL": "it's"}).in_terminal(["true"])


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR", None])
async def test_a_file_is_opened_in_the_named_editor_else_by_the_desktop(
    tools: Path, tmp_path: Path, variable: str | None
) -> None:
    for name in ("xterm", "xdg-open"):
        script(tools, name, f'echo "$@" > {tools}/{name}.new; mv {tools}/{name}.new {tools}/{name}.said')
    env = {"PATH": f"{tools}:/usr/bin:/bin", "DISPLAY": ":7", "TERMINAL": "xterm"}
    launcher = Launcher(env | ({variable: "vi"} if variable else {}))
    by = await launcher.open_file(tmp_path / "config.yaml", ["edit", "it"])
    said = tools / f"{by}.said"
    await eventually(said.exists, "the program's word")
    assert by == ("xterm" if variable else "xdg-open")
    assert said.read_text().strip().endswith("edit it" if variable else "config.yaml")
    assert not (tools / f"{'xdg-open' if variable else 'xterm'}.said").exists()


async def test_a_desktop_that_cannot_open_it_leaves_it_to_a_terminal(tools: Path, tmp_path: Path) -> None:
    script(tools, "xdg-open", "exit 3")
    launcher = Launcher({"PATH": f"{tools}:/usr/bin:/bin", "DISPLAY": ":7"})
    script(tools, "kitty", "")
    (tools / "x-terminal-emulator").symlink_to("kitty")
    assert await launcher.open_file(tmp_path / "file", ["edit"]) == "x-terminal-emulator"
    (tools / "kitty").unlink()
    launcher = Launcher({"PATH": str(tools), "DISPLAY": ":7"})
    with pytest.raises(NotStarted, match=r"open .*file yourself"):
        await launcher.open_file(tmp_path / "file", ["edit"])


async def test_a_copied_text_is_what_is_pasted(desktop: Desktop) -> None:
    need("xclip")
    await Launcher(desktop.env).copy("default:%5")
    paste = ["xclip", "-selection", "clipboard", "-o"]
    done = subprocess.run(paste, env=desktop.env, capture_output=True, text=True, timeout=10)  # noqa: ASYNC221
    assert done.stdout == "default:%5"
    await Launcher(desktop.env).copy("other:%6")
    done = subprocess.run(paste, env=desktop.env, capture_output=True, text=True, timeout=10)  # noqa: ASYNC221
    assert done.stdout == "other:%6"


async def test_a_clipboard_program_that_is_missing_fails_or_hangs_is_told(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = Launcher({"PATH": f"{tools}:/bin", "DISPLAY": ":7"})
    monkeypatch.setattr("trayagent.desktop.programs.CLIPBOARDS", (("DISPLAY", ("paste-it",)),))
    with pytest.raises(NotStarted, match="install"):
        await launcher.copy("x")
    script(tools, "paste-it", "cat > /dev/null; exit 4")
    with pytest.raises(NotStarted, match="status 4"):
        await launcher.copy("x")
    monkeypatch.setattr("trayagent.desktop.programs.COPY_SECONDS", 0.2)
    script(tools, "paste-it", "exec sleep 60")
    with pytest.raises(NotStarted, match="did not take"):
        await launcher.copy("x")


def test_our_own_command_runs_without_being_on_path() -> None:
    done = subprocess.run(
        our_command("config", "path"), capture_output=True, text=True, env={"HOME": "/nowhere"}, timeout=30
    )
    assert done.stdout.strip() == "/nowhere/.config/trayagent/config.yaml"
