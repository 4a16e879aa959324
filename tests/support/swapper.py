"""An unprivileged user who swaps a folder and a symbolic link, once or again and again."""

import ctypes
import signal
import subprocess
import sys
from pathlib import Path

from muster_processes import DEADLINE, wait_until

NOBODY = 65534

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)

# Whole in itself: that user may not be able to read where this file lies.
_ATTACK = """
import ctypes, os, sys, time
how, folder, target = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
end = time.monotonic() + 600
while not (os.path.isdir(folder) and os.listdir(folder)):
    assert time.monotonic() < end
link = folder + ".other"
os.symlink(target, link)
counter = os.open(folder + ".swaps", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
while time.monotonic() < end:
    # RENAME_EXCHANGE: at no time is nothing there.
    if libc.renameat2(-100, os.fsencode(folder), -100, os.fsencode(link), 2) != 0:
        raise OSError(ctypes.get_errno(), "exchange")
    os.write(counter, b".")
    if how == "once":
        break
"""


class Swapper:
    """Exchanges `folder` and a link to `target` as soon as the folder holds something, while the block runs.

    Both lie in a folder of the user `nobody`. `how` is "once" or "always".
    """

    def __init__(self, how, folder, target):
        self.folder, self.counter = Path(folder), Path(f"{folder}.swaps")
        self.process = subprocess.Popen([sys.executable, "-c", _ATTACK, how, str(folder), str(target)], user=NOBODY,
                                        group=NOBODY, extra_groups=[], cwd="/",
                                        preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(DEADLINE)

    def swaps(self):
        """How often it has swapped so far."""
        try:
            return self.counter.stat().st_size
        except OSError:
            return 0

    def wait_for(self, swaps):
        def done():
            if self.swaps() < swaps:
                assert self.process.poll() in (None, 0), "the attacker failed"
                return False
            return True
        wait_until(f"{swaps} swaps of {self.folder}", done)
