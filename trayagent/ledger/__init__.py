"""What happened, kept: transitions, deliveries and reads in SQLite; the daemon is the only writer."""

from trayagent.ledger.ledger import Ledger
from trayagent.ledger.reads import NextIds

__all__ = ["Ledger", "NextIds"]
