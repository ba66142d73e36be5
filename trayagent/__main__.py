"""The `trayagent` command, and `python -m trayagent`.

`run` stands between a person and his agent, so that it starts in a third of the time and half of
the memory that the command line's library costs: it is recognised here, before that is imported.
So are `report` and its like: agents wait for them in the middle of their work.
"""

import sys

LIGHT = frozenset({"report", "release", "set-state"})


def main() -> None:
    """The program. Ends the process with the exit code."""
    if sys.argv[1:2] == ["run"]:
        from trayagent.relay.program import main as run

        sys.exit(run(sys.argv[2:]))
    if len(sys.argv) > 1 and sys.argv[1] in LIGHT:
        from trayagent.cli.report import run as report

        sys.exit(report(sys.argv[1], sys.argv[2:]))
    from trayagent.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
