"""A terminal without a window: the screen that bytes draw, for recordings and for relayed terminals."""
