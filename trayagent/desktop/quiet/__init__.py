"""The desktop's own do-not-disturb: each notification server's way to say it, and a watch over it."""
