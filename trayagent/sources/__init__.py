"""Where panes come from; one module or package a kind of terminal server, all behind base.Source."""
