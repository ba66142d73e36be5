"""`trayagent`: the table of commands.

Commands are imported when they are run, so that a quick one stays quick: `list` reads a socket
and prints, and must not pay for YAML, SQLite, D-Bus or asyncio. The table therefore says itself
what each command does, in one line for `--help`.

Exit codes: 0 fine, 1 no, 2 usage, 3 no daemon.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from trayagent.ipc.client import NoDaemon, VerbError

# section -> command -> (module:attribute below trayagent.cli, one line)
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Who needs you": {
        "list": ("panes:list_", "All panes with an agent, the loudest first."),
        "get": ("panes:get", "One pane, or one field of it."),
        "explain": ("explain:explain", "Why a pane has its state, rule by rule."),
        "status": ("daemon:status", "The whole in a few lines; for status bars too."),
        "events": ("daemon:events", "What happens, as it happens."),
        "wait": ("reporting:wait", "Wait until a pane is blocked, done, or what you name."),
        "history": ("history:history", "What happened, and why you were told or not."),
    },
    "Go there": {
        "jump": ("panes:jump", "Show a pane: switch the client, raise its window."),
        "next": ("panes:next_", "Jump to the pane that has needed you longest, then the following."),
        "back": ("panes:back", "Go back to where you were before the last jump."),
    },
    "Quiet": {
        "mute": ("quiet:mute", "Tell nothing of a pane, session, project or agent."),
        "unmute": ("quiet:unmute", "End a mute."),
        "pause": ("quiet:pause", "Tell nothing at all for a while."),
        "unpause": ("quiet:unpause", "End the pause."),
        "read": ("quiet:read", "Mark ended turns as read."),
        "forget": ("quiet:forget", "Take a pane off the list until it changes."),
        "sounds": ("sounds:sounds", "How alerts are heard: mode, list, test."),
        "test-alert": ("daemon:test_alert", "Show a banner and play its sound, to see that it works."),
    },
    "Exact states": {
        "run": ("run:run", "Run an agent so that its states are exact: run -- claude."),
        "shell-init": ("shellinit:shell_init", "Shell functions that run your agents in `trayagent run`."),
    },
    "Set up": {
        "config": ("config:config", "The config file: init, check, edit, set, schema."),
        "manifests": ("manifests:manifests", "The rule files of agents: list, check, show, update."),
        "doctor": ("doctor:doctor", "What works here, what does not, and what to do."),
        "reload": ("daemon:reload", "Read config and manifests again."),
        "stop": ("daemon:stop", "End the daemon."),
        "version": ("daemon:version", "Versions of the command and of the daemon."),
        "autostart": ("autostart:autostart", "Start with the desktop session: install, uninstall, status."),
        "demo": ("demo:demo", "What trayagent does, in fifteen seconds; needs no agent."),
    },
    "For agents and scripts": {
        "report": ("reporting:report", "Say what an agent does, with numbers that only rise."),
        "release": ("reporting:release", "End an instance's reports."),
        "set-state": ("reporting:set_state", "Say what this pane does, from inside it."),
        "info": ("reporting:info", "What programs have said about a pane, and what of it counts."),
        "skill": ("skill:skill", "The guide for agents: how to report, wait, and jump."),
    },
    "For makers of rules": {
        "capture": ("capture:capture", "A pane's screen as a test screen, without names and secrets."),
        "replay": ("replay:replay", "Run a recorded session through the engine."),
    },
}


class Commands(click.Group):
    """A group that knows its commands by the table, and imports one to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the table's order."""
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        for section in COMMANDS.values():
            if cmd_name in section:
                module, _, attribute = section[cmd_name][0].partition(":")
                found = getattr(importlib.import_module(f"trayagent.cli.{module}"), attribute)
                assert isinstance(found, click.Command)
                return found
        return None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click's, but an unknown command names the nearest."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint} `trayagent --help` lists them.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, section by section."""
        for title, section in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in section.items()])


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="PANE is SERVER:%5, or %5 where that is unique, or a tty; without one it is the pane "
    "that you type in. Exit codes: 0 fine, 1 no, 2 usage, 3 no daemon.",
)
@click.option("--only-server", metavar="SOCKET", help="Watch only this tmux socket.")
@click.option("--config", "config_file", metavar="FILE", help="Use this config file.")
@click.option("--no-tray", is_flag=True, help="Show no icon.")
@click.option("--verbose", is_flag=True, help="Log more.")
@click.pass_context
def trayagent(
    ctx: click.Context, only_server: str | None, config_file: str | None, no_tray: bool, verbose: bool
) -> None:
    """Which of your coding agents needs you, and the way there.

    Without a command trayagent runs in the foreground: it watches your tmux servers, shows an
    icon, and sends a banner when an agent waits for you. All other commands talk to it.
    """
    if ctx.invoked_subcommand is None:
        from trayagent.cli.start import start

        ctx.exit(start(only_server, config_file, tray=not no_tray, verbose=verbose))
    for flag, given in (("--only-server", only_server), ("--config", config_file), ("--no-tray", no_tray)):
        if given:
            ctx.fail(f"{flag} belongs to `trayagent` without a command")


def main() -> None:
    """The program. Ends the process with the exit code."""
    completion = os.environ.get("_TRAYAGENT_COMPLETE")
    if completion:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(trayagent, {}, "trayagent", "_TRAYAGENT_COMPLETE", completion))
    try:
        code = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # `trayagent events | head`: the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _run(args: list[str]) -> int:
    """Run a command line, with every refusal in words; returns the exit code."""
    try:
        with trayagent.make_context("trayagent", args) as ctx:
            trayagent.invoke(ctx)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except NoDaemon as error:
        click.echo(f"trayagent: {error}", err=True)
        return 3
    except VerbError as error:
        click.echo(f"trayagent: {error.text}", err=True)
        return 2 if error.code == "bad-args" else 1
    return 0


if __name__ == "__main__":
    main()
