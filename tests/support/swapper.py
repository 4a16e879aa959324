"""An unprivileged user who puts symbolic links in the place of folders and files while they are in use."""

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
_SWAP = """
import ctypes, os, sys, time
how, folder, target = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
end = time.monotonic() + 600
def holds_something():
    try:
        return os.path.isdir(folder) and os.listdir(folder)
    except PermissionError:  # it is being made, and not ours yet
        return False
print(flush=True)  # it looks
while not holds_something():
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


# The link is renamed onto the file: at no time is nothing there.
_REPLACE = """
import os, sys, time
folder, prefix, target = sys.argv[1:]
end = time.monotonic() + 600
link = os.path.join(folder, "link")
counter = os.open(folder + ".caught", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
print(flush=True)  # it looks
seen = set()
while time.monotonic() < end:
    for name in os.listdir(folder):
        if name.startswith(prefix) and name not in seen:
            seen.add(name)
            os.symlink(target, link)
            os.rename(link, os.path.join(folder, name))
            os.write(counter, b".")
"""


class _Attacker:
    """A process of the user `nobody`, while the block runs. When the block begins, it looks for what it attacks.

    It writes a byte into the file `counter` for each success.
    """

    def __init__(self, script, counter, *words):
        self.counter = Path(counter)
        self.process = subprocess.Popen([sys.executable, "-c", script, *map(str, words)], user=NOBODY, group=NOBODY,
                                        extra_groups=[], cwd="/", stdout=subprocess.PIPE,
                                        preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL))

    def __enter__(self):
        # One line, or the end of a script that failed; a script that hangs is ended by the test's own deadline.
        if not self.process.stdout.readline():
            self.__exit__()
            raise AssertionError("the attacker failed")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(DEADLINE)
        self.process.stdout.close()

    def count(self):
        try:
            return self.counter.stat().st_size
        except OSError:
            return 0

    def wait_for(self, count):
        def done():
            if self.count() < count:
                assert self.process.poll() in (None, 0), "the attacker failed"
                return False
            return True
        wait_until(f"{count} bytes in {self.counter}", done)


class Swapper(_Attacker):
    """Exchanges `folder` and a link to `target` as soon as the folder holds something.

    Both lie in a folder of the user `nobody`. `how` is "once" or "always".
    """

    def __init__(self, how, folder, target):
        super().__init__(_SWAP, f"{folder}.swaps", how, folder, target)

    def swaps(self):
        """How often it has swapped so far."""
        return self.count()


class Replacer(_Attacker):
    """Replaces each file of `folder` whose name begins with `prefix` by a link to `target`, as soon as it sees it.

    The folder, and the one that it lies in, belong to the user `nobody`.
    """

    def __init__(self, folder, prefix, target):
        Path(f"{folder}.caught").unlink(missing_ok=True)
        super().__init__(_REPLACE, f"{folder}.caught", folder, prefix, target)

    def caught(self):
        """How many files it has replaced so far."""
        return self.count()
