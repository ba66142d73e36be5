"""`skill`: the guide that an agent reads to use trayagent itself."""

from __future__ import annotations

import click

GUIDE = """\
---
name: trayagent
description: >-
  Tell the user through trayagent what you are doing, wait for other agents' panes, and go to them.
  Use it when a task runs long, when you need the user, or when you depend on another pane.
---

# trayagent

trayagent watches terminal panes and tells the user which of them needs him. Run these commands
inside your own pane. `trayagent status` exits with 3 where it does not run; then leave it alone.

## Say what you do

    trayagent set-state working -m "Running the migration"
    trayagent set-state blocked -m "Which database may I drop?"
    trayagent set-state done -m "Migration finished"
    trayagent set-state clear          # back to what can be seen on the screen

Say `blocked` only when you cannot go on without the user, and `working` again as soon as you can.
These commands print nothing; exit code 0 taken, 1 refused, with the reason on stderr.

## Say it exactly (for programs that run an agent)

    trayagent report --agent my-agent --owner-pid 1234 --instance launch-7f3a --sequence 1 \\
        --status working --message "Reading the code"
    trayagent report --agent my-agent --owner-pid 1234 --instance launch-7f3a --sequence 2 \\
        --status needs-input --message "Approve the change?" \\
        --session-id s42 --resume-json '["my-agent","resume","s42"]'
    trayagent release --owner-pid 1234 --instance launch-7f3a --sequence 3

`--owner-pid` is the agent's process, not the command's. The instance is made up anew for each launch.
Sequence numbers start at 1 and rise with each report and the release. The owner must be in front of
its pane. States: idle, working, needs-input, done, error. A left-out message clears the last one, a
left-out session id keeps it. In hooks add `--quiet`: always exit code 0, nothing printed.

## See and wait

    trayagent list --json                       # all panes: pane, agent, state, message, dir
    trayagent get default:%5 --field state
    trayagent wait default:%5 --until blocked,done --timeout 600

A PANE is SERVER:%5, %5 where that is unique, or a tty; without one it is your own. `wait` prints the
state that was reached and exits with 0; 1 time over or pane gone, 2 usage, 3 no daemon. With
`--change` a state that the pane is in already does not count: use it right after you gave it work.

## Take the user there

    trayagent jump default:%5                   # only when the user asked for it
    trayagent explain default:%5                # why a pane has its state
"""


@click.command()
def skill() -> None:
    """The guide for agents: how to report, wait, and jump.

    Put it where your agent looks for skills, for example:
    trayagent skill > ~/.claude/skills/trayagent/SKILL.md
    """
    click.echo(GUIDE, nl=False)
