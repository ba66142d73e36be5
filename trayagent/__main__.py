"""`python -m trayagent`: the same as the `trayagent` command."""

from trayagent.cli.main import main

main()
