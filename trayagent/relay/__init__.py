"""`trayagent run -- CMD`: a terminal between the terminal and an agent, which hears what is said."""
