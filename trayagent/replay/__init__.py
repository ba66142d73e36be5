"""Recorded sessions, drawn by an emulator and judged by the engine in simulated time."""
