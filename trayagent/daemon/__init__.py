"""Wiring: events to the engine, effects to the ends. Nothing is decided here."""

from trayagent.daemon.lean import import_without_openssl

import_without_openssl()
