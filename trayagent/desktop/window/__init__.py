"""Windows: which has the keyboard, which holds a client, how to raise it; idleness and the lock."""
