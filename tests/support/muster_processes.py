"""Processes of a test: started, watched, waited for and ended, and none outlives the test program."""

import contextlib
import ctypes
import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("MUSTER_BIN", SOURCE / "build/release/bin"))
DEADLINE = 180.0 if "MUSTER_SANITIZE" in os.environ else 60.0

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(what, condition, deadline=DEADLINE):
    """Returns the condition's first true value; fails with `what` when none comes in time."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:g} s: {what}; last seen: {value!r}")
        time.sleep(0.03)


_reserved = []  # open files, each the lock of a port that this program has been given


def _reserve(port):
    """Whether no other test program has been given this port: a look alone would let two have it."""
    lock = os.open(Path(tempfile.gettempdir(), f"muster-test-port-{port}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    _reserved.append(lock)
    return True


def free_port():
    """A port that nobody listens on, below the range the kernel gives to outgoing connections.

    From inside that range, a client of a server that is away could be given the server's own port.
    """
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, max(first_outgoing, 10001 + 1000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if _reserve(port):
            return port


def _parents():
    """Parent of every process, by process id."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text()
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
            except OSError:
                continue
    return parents


def alive(pid):
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def start_time(pid):
    """When the process began, in ticks since the boot: tells it from a later one of the same number. None: gone."""
    try:
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


def command_line(pid):
    """The words of a process, each ended by a zero byte; empty when it is gone."""
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return b""


def processes_of(folder):
    """Processes that name the folder or work in it, and whatever descends from them."""
    folder = str(folder)
    parents = _parents()
    found = set()
    for pid in parents:
        try:
            words = command_line(pid).decode(errors="replace")
            place = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if folder in words or place.startswith(folder):
            found.add(pid)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {os.getpid()}


def clean_environment():
    return {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_")}


class Outcome:
    """Of a command: exit code and both streams."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def complaint(self):
        return self.err.decode(errors="replace")

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"muster {' '.join(self.words)} -> {self.code}\n{self.text[-2000:]}\n{self.complaint[-2000:]}"


class Command:
    """A command of `muster` that goes on while the test does."""

    def __init__(self, words, folder, environment):
        self.words = words
        self._out = tempfile.TemporaryFile(dir=folder)
        self._err = tempfile.TemporaryFile(dir=folder)
        self.process = subprocess.Popen([str(BIN / "muster"), *words], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err,
                                        preexec_fn=_die_with_parent)

    @staticmethod
    def _read(file):
        file.flush()
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)

    def said(self):
        """What it has said so far: stdout, stderr."""
        return self._read(self._out).decode(errors="replace"), self._read(self._err).decode(errors="replace")

    def finish(self, deadline=DEADLINE):
        try:
            code = self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"not ended within {deadline:g} s: muster {self.words}; said {self.said()}")
        outcome = Outcome(self.words, code, self._read(self._out), self._read(self._err))
        self._out.close()
        self._err.close()
        return outcome


class Daemon:
    """A server, agent or emulator: started, ended, started again, with one log for all of it."""

    bound = True  # it ends with this program
    host = None  # of a NetLab, where it runs; None: where this program does

    def __init__(self, words, log, environment=None):
        self.words = [str(word) for word in words]
        self.log = Path(log)
        self.environment = {**clean_environment(), **(environment or {})}
        self.process = None

    def start(self):
        assert not self.running(), f"{self.words} runs already"
        with open(self.log, "ab") as log, self.host.inside() if self.host else contextlib.nullcontext():
            self.process = subprocess.Popen(self.words, env=self.environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log,
                                            preexec_fn=_die_with_parent if self.bound else os.setsid)
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def end(self, how=signal.SIGKILL):
        """Sends the signal, waits for the end and gives the exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(DEADLINE)

    def tail(self, lines=40):
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"
