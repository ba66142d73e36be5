"""`explain`: why a pane, or a recorded screen, has its state."""

from __future__ import annotations

from pathlib import Path

import click

from trayagent.cli.ask import ask, json_option, pane_args, pane_argument
from trayagent.cli.explaining import explained, rules
from trayagent.cli.show import clean, json_line, state_text


@click.command()
@pane_argument
@click.argument("more", nargs=-1, metavar="")
@click.option(
    "--screen", is_flag=True, help="Judge recorded screens: the arguments are files. Needs no daemon."
)
@click.option("--agent", metavar="ID", help="With --screen: by this agent's rules, not the file's own.")
@json_option
def explain(pane: str | None, more: tuple[str, ...], screen: bool, agent: str | None, as_json: bool) -> None:
    """Why a pane has its state.

    Tells who is in front of the terminal and how that was found out, which file of rules was
    asked and what each rule answered to the last screen, what programs claimed, and what came
    of it. With --screen FILE... recorded screens are judged in its place, one line a file.
    """
    if screen:
        files = [name for name in (pane, *more) if name]
        if not files:
            raise click.UsageError("--screen needs at least one FILE.")
        click.get_current_context().exit(_screens([Path(name) for name in files], agent, as_json))
    if more:
        raise click.UsageError("One PANE at a time.")
    answer = ask("explain", pane_args(pane))
    json_line(answer) if as_json else explained(answer)


def _screens(files: list[Path], agent: str | None, as_json: bool) -> int:
    """One line a file, in order; of a single file all rules too. 1 if a file could not be judged."""
    from trayagent.cli.manifests import library
    from trayagent.cli.screens import Judge

    judge, failed = Judge(library(), agent), False
    for path in files:
        judged = judge.judge(path)
        failed = failed or judged.problem
        if as_json:
            json_line(judged.to_json())
            continue
        kind = f" ({judged.kind})" if judged.kind else ""
        click.echo(
            f"{path.name}  {judged.agent or '-'}  {state_text(judged.state)}{kind}  {clean(judged.why)}"
        )
        if len(files) == 1 and judged.trace.rules:
            rules(judged.trace.to_json())
    return int(failed)
