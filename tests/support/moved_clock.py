"""A wall clock that a test moves under one program, by libfaketime. Steady clocks go on as they are, as they do
when somebody sets a machine's clock."""

import os
import tempfile
from pathlib import Path


def _library():
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert found, "libfaketime is missing: run scripts/deps"
    return found[0]


def fixed_shift(shift):
    """The environment of a program whose clock is this far off, "-30d" for example.

    The command `faketime` does the same, but makes a semaphore named after its process id, and fails if one of that
    name was left by a process that was killed.
    """
    return {"LD_PRELOAD": str(_library()), "FAKETIME": shift}


class MovedClock:
    def __init__(self):
        handle, name = tempfile.mkstemp(prefix="muster-clock-")
        os.close(handle)
        self._file = Path(name)
        self.move(0)
        # For the program that is to live by this clock.
        self.environment = {"LD_PRELOAD": str(_library()), "FAKETIME_TIMESTAMP_FILE": str(self._file),
                            "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def move(self, seconds):
        """The clock is so far ahead of the true one from now on; behind, when negative."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        os.replace(fresh, self._file)

    def close(self):
        self._file.unlink(missing_ok=True)
