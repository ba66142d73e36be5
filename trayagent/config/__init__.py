"""From the user's YAML to the settings of model, with a position for everything that is wrong."""
