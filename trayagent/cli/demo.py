"""`demo`: what trayagent is for, in a quarter of a minute, with recorded agents."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from typing import Any

import click

from trayagent.cli.ask import ask
from trayagent.cli.showing import Screen
from trayagent.config.load import default_path, read
from trayagent.ipc.client import NoDaemon, VerbError
from trayagent.ipc.paths import runtime_folder
from trayagent.model.settings import Settings
from trayagent.remedies import install

LINGER = 120.0  # seconds for which icon and banners stay for somebody at a terminal


@click.command()
def demo() -> None:
    """What trayagent does, in fifteen seconds; needs no agent.

    Three recorded agents play in a private tmux. Your own tmux, agents and settings are not touched.
    """
    tmux = shutil.which("tmux")
    screen = Screen()
    try:
        code = asyncio.run(_play(tmux, screen) if tmux else _simulate(screen))
    finally:
        screen.close()
    click.get_current_context().exit(code)


def own_settings() -> dict[str, Any]:
    """What a stage takes over from the person's own config: what is heard, and by which backends."""
    settings = read(default_path()).settings or Settings()
    sounds = settings.sounds
    return {
        "sounds": {"mode": sounds.mode, "volume": sounds.volume, "states": dict(sounds.states)},
        "tray": {"backend": settings.tray.backend},
        "notify": {"backend": settings.notify.backend},
    }


def _runs() -> bool:
    try:
        ask("version", timeout=1.0)
    except (NoDaemon, VerbError):
        return False
    return True


# -- with tmux -----------------------------------------------------------------------------


async def _play(tmux: str, screen: Screen) -> int:
    from trayagent.demo.parts import NotPlayed
    from trayagent.demo.run import Demo
    from trayagent.demo.stage import Stage, StageError
    from trayagent.demo.story import STORY

    screen.head(running=_runs())
    try:
        with Stage(STORY, tmux, runtime_folder().parent) as stage:
            showing = Demo(stage, own_settings(), screen)
            _on_signals(showing.stop)
            ending = await showing.play(lambda ending: _linger(ending, screen))
    except (StageError, NotPlayed) as error:
        screen.clear()
        click.echo(f"trayagent: the demo cannot be played: {error}", err=True)
        return 1
    if not ending.played and not ending.told:
        screen.clear()
        click.echo("The demo was ended; nothing of it is left.")
    return 0


def _on_signals(stop: Any) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)


async def _linger(ending: Any, screen: Screen) -> None:
    """Say what happened, and leave icon and banners there for a person until he presses Enter."""
    screen.end(ending)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    screen.invite(ending, LINGER)
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), entered.set)
    try:
        async with asyncio.timeout(LINGER):
            await entered.wait()
        sys.stdin.readline()
    except TimeoutError:
        return
    finally:
        loop.remove_reader(sys.stdin.fileno())


# -- without -------------------------------------------------------------------------------


async def _simulate(screen: Screen) -> int:
    from trayagent.cli.manifests import library
    from trayagent.demo.simulate import simulate

    screen.head_without_tmux(install("tmux"))
    work = asyncio.ensure_future(simulate(library(), screen))
    _on_signals(work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        return 0
    screen.end_without_tmux(install("tmux"))
    return 0
