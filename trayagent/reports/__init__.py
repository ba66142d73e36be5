"""Claims that reach a pane from outside its screen."""
