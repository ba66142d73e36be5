"""What programs say in the bytes that they write: operating system commands (OSC) and what they mean.

`Scanner` cuts them out of a stream, `status` reads the Program Status Protocol, `mark` shell marks.
"""

from trayagent.signals.marks import mark
from trayagent.signals.scanner import RIS, Scanner
from trayagent.signals.status import MOST, Report, read

__all__ = ["MOST", "RIS", "Report", "Scanner", "mark", "read"]
