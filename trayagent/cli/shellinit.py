"""`shell-init`: shell functions that start the known agents in a relay, for those that are installed.

A function stands in for a command only where that changes nothing: in interactive shells, for
programs that are really there, and never in place of a function that the person has defined. Where
trayagent is missing the agent simply runs; inside of a relay, or without a terminal, `trayagent run`
itself steps aside.
"""

from __future__ import annotations

import re

import click

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")

# `function NAME` instead of `NAME()`, which a shell that has an alias of this name would expand.
# The loop gives each its own body through eval, since the name is part of it.
_POSIXLIKE = """\
# Printed by `trayagent shell-init {shell}`: these agents run in a relay, so that trayagent
# knows exactly what they are doing. To be read by your shell at its start.
case $- in
*i*)
    for _trayagent_name in {names}; do
        if {program} && {free}; then
            eval "function $_trayagent_name {{
                if command -v trayagent >/dev/null 2>&1
                then command trayagent run -- $_trayagent_name \\"\\$@\\"
                else command $_trayagent_name \\"\\$@\\"
                fi
            }}"
        fi
    done
    unset _trayagent_name
    ;;
esac
"""
_FISH = """\
# Printed by `trayagent shell-init fish`: these agents run in a relay, so that trayagent
# knows exactly what they are doing. To be read by your shell at its start.
if status is-interactive
    for _trayagent_name in {names}
        if command -q $_trayagent_name; and not functions -q $_trayagent_name
            function $_trayagent_name --inherit-variable _trayagent_name --wraps $_trayagent_name
                if command -q trayagent
                    command trayagent run -- $_trayagent_name $argv
                else
                    command $_trayagent_name $argv
                end
            end
        end
    end
    set -e _trayagent_name
end
"""
TEMPLATES = {
    "bash": _POSIXLIKE.replace("{program}", 'type -P "$_trayagent_name" >/dev/null').replace(
        "{free}", '! declare -F "$_trayagent_name" >/dev/null'
    ),
    "zsh": _POSIXLIKE.replace("{program}", "(( $+commands[$_trayagent_name] ))").replace(
        "{free}", "! (( $+functions[$_trayagent_name] ))"
    ),
    "fish": _FISH,
}


@click.command("shell-init")
@click.argument("shell", type=click.Choice(sorted(TEMPLATES)))
@click.option(
    "--agents",
    metavar="A,B,...",
    help="Only these agents (ids or aliases, as `manifests list` shows them); all that are known otherwise.",
)
def shell_init(shell: str, agents: str | None) -> None:
    """Print shell functions that start agents in a relay (`trayagent run`).

    \b
    bash:  trayagent shell-init bash > ~/.config/trayagent/agents.bash
           echo '. ~/.config/trayagent/agents.bash' >> ~/.bashrc
    zsh:   the same with agents.zsh and ~/.zshrc
    fish:  trayagent shell-init fish > ~/.config/fish/conf.d/trayagent.fish

    Only agents that are installed get a function, and only where you have none of that name.
    `command claude` goes past it.
    """
    click.echo(text(shell, names(agents)), nl=False)


def names(agents: str | None) -> list[str]:
    """The commands of these agents, of all for None; raises ClickException for one that nobody knows."""
    from trayagent.cli.manifests import known, library

    among = library()
    if agents is None:
        wanted = list(among.manifests)
    else:
        wanted = [known(agent.strip(), among) for agent in agents.split(",") if agent.strip()]
    found = {name for manifest in wanted if manifest.detect for name in manifest.detect.names}
    return sorted(name for name in found if _NAME.fullmatch(name))


def text(shell: str, commands: list[str]) -> str:
    """What a shell is to read."""
    return TEMPLATES[shell].format(shell=shell, names=" ".join(commands))
