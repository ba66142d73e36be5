"""Wiring: events to the engine, effects to the ends. Nothing is decided here."""
