"""CPU time and memory of processes, as the kernel counts them (proc(5))."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a process and its ended children have used: its own threads to the
    nanosecond (schedstat), its waited-for children in clock ticks (cutime and cstime)."""
    own = sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return own / 1e9 + (int(fields[13]) + int(fields[14])) * TICK


def memory(pid: int) -> float:
    """Resident memory of a process in MB (2**20 bytes)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


@dataclass(slots=True)
class Meter:
    """The share of one core that a process uses between `start` and `percent`."""

    pid: int
    used: float = 0.0
    began: float = 0.0

    def start(self) -> Meter:
        """Count from now on."""
        self.used, self.began = cpu_seconds(self.pid), time.monotonic()
        return self

    def percent(self) -> float:
        """Per cent of one core since the start."""
        return 100 * (cpu_seconds(self.pid) - self.used) / (time.monotonic() - self.began)
