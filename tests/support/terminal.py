"""A command at a terminal of its own: what a person sees and types."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import fcntl
import termios
import time

from muster_cluster import BIN, DEADLINE, wait_until

CONTROL_C = "\x03"
CONTROL_D = "\x04"


class AtTerminal:
    """`muster` with a pseudo terminal as stdin, stdout and stderr, 100 columns wide, unless told otherwise."""

    def __init__(self, words, environment, columns=100, program="muster", **elsewhere):
        self.words = [str(word) for word in words]
        self._screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self._inside = inside  # kept open, so that its settings can be looked at after the end
        self.mode_before = termios.tcgetattr(inside)
        self._shown = b""  # since the start
        self._waited_for = 0  # characters of it

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(inside, termios.TIOCSCTTY, 0)

        streams = {"stdin": inside, "stdout": inside, "stderr": inside, **elsewhere}
        self.process = subprocess.Popen([str(BIN / program), *self.words], env=environment,
                                        preexec_fn=own_the_terminal, **streams)

    def _read(self, seconds):
        if select.select([self._screen], [], [], seconds)[0]:
            self._shown += os.read(self._screen, 65536)

    @property
    def text(self):
        """What was shown since the last wait. All bytes are decoded at once: a read can end inside a character or line end."""
        return self._shown.decode(errors="replace").replace("\r\n", "\n")[self._waited_for:]

    def wait_for(self, pattern, deadline=DEADLINE):
        """The match of `pattern` in what was shown since the last wait."""
        end = time.monotonic() + deadline
        while True:
            found = re.search(pattern, self.text)
            if found:
                self._waited_for += found.end()
                return found
            if time.monotonic() > end:
                raise AssertionError(f"never shown: {pattern!r}; muster {self.words} showed {self.text!r}")
            self._read(0.05)

    def type(self, keys):
        os.write(self._screen, keys.encode())

    def mode(self):
        """How the terminal takes keys now."""
        return termios.tcgetattr(self._inside)

    def wait_for_secret_mode(self):
        wait_until("the terminal shows no keys", lambda: not self.mode()[3] & termios.ECHO)

    def finish(self, deadline=DEADLINE):
        """The exit code and the rest of what was shown."""
        end = time.monotonic() + deadline
        while self.process.poll() is None:
            if time.monotonic() > end:
                self.close()
                raise AssertionError(f"not ended: muster {self.words}; showed {self.text!r}")
            self._read(0.05)
        while select.select([self._screen], [], [], 0)[0]:
            self._read(0)
        return self.process.returncode, self.text

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for fd in (self._screen, self._inside):
            try:
                os.close(fd)
            except OSError:
                pass
