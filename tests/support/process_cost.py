"""What a process takes of the machine, by /proc: memory in bytes, and processor time."""

import os
import re
from pathlib import Path

MIB = 1 << 20

# Sanitizers keep freed memory for a while and multiply memory and processor time. Under them, a test still performs its attack and
# checks every answer, but a bound on what a process takes says nothing.
MEASURES = "MUSTER_SANITIZE" not in os.environ


def assert_cost(test, taken, most, *words):
    """Fails the test if a process took as much memory or processor time as `most`, or more."""
    if MEASURES:
        test.assertLess(taken, most, *words)


def _status(pid, name):
    """The value of this line in bytes; 0 when the process is gone."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M)
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def memory_of(pid):
    """What it has in memory now."""
    return _status(pid, "VmRSS")


def most_memory_of(pid):
    """The most that it had in memory since its start, or since `forget_most_memory`."""
    return _status(pid, "VmHWM")


def forget_most_memory(pid):
    """From now on the most begins with what the process has now: an earlier peak would hide growth."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def processor_seconds(pid):
    """What it has used in user and system mode, with all its threads."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
