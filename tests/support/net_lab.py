"""A network of hosts on one machine, each a network namespace with an address, and what goes wrong between them.

All hosts hang on one bridge, which has a namespace of its own: there packets are dropped (nftables), held back
(net_delay.py) and throttled (tbf). Neither end notices more than it would of a broken network. Nothing leads from these
namespaces to any other network. Needs root.
"""

import atexit
import contextlib
import ctypes
import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from muster_processes import Daemon, alive, start_time, wait_until

_CLONE_NEWNET = 0x40000000
_NAMESPACES = Path("/run/netns")
_DELAY = Path(__file__).resolve().parent / "net_delay.py"
_RULES = """table bridge lab {
  set cut { type ipv4_addr . ipv4_addr; }
  set late { type ipv4_addr . ipv4_addr; }
  chain forward {
    type filter hook forward priority 0;
    ip saddr . ip daddr @cut drop
    ip saddr . ip daddr @late drop
  }
}
"""
_libc = ctypes.CDLL(None, use_errno=True)


def _tool(*words, text=""):
    done = subprocess.run([str(word) for word in words], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr.decode()}{done.stdout.decode()}\n{text}"
    return done.stdout.decode()


def _enter(namespace):
    if _libc.setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _end_namespace(name):
    """Whatever still runs in it goes first: a namespace lives as long as its last process."""
    def empty():
        pids = {int(pid) for pid in _tool("ip", "netns", "pids", name).split()} - {os.getpid()}
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return not [pid for pid in pids if alive(pid)]
    wait_until(f"{name} is empty", empty)
    _tool("ip", "netns", "del", name)


def _remove_orphans():
    """Of test programs that were killed. A number of a process may be in use again, with another start."""
    for name in os.listdir(_NAMESPACES) if _NAMESPACES.is_dir() else ():
        owner = re.fullmatch(r"muster-(\d+)-(\d+)-.*", name)
        if owner and start_time(int(owner[1])) != int(owner[2]):
            with contextlib.suppress(AssertionError):  # the next program may be at it, too
                _end_namespace(name)


class Host:
    """One of the lab: `address` is what the others reach it by."""

    def __init__(self, prefix, name, number):
        self.name, self.address = name, f"10.77.0.{number}"
        self.namespace, self.port = prefix + name, f"v-{name}"

    @contextlib.contextmanager
    def inside(self):
        """Whatever this thread starts, or opens a socket for, meanwhile, is on this host."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            here = os.open(_NAMESPACES / self.namespace, os.O_RDONLY)
            try:
                _enter(here)
            finally:
                os.close(here)
            try:
                yield self
            finally:
                _enter(before)
        finally:
            os.close(before)

    def start(self, words, log, environment=None):
        """A program of this host."""
        daemon = Daemon(words, log, environment)
        daemon.host = self
        return daemon.start()


class NetLab:
    """Gone at the latest with the test program, or when the next one starts."""

    def __init__(self, *names):
        _remove_orphans()
        self._prefix = f"muster-{os.getpid()}-{start_time(os.getpid())}-"
        self._bridge = f"{self._prefix}bridge"
        self._delays, self._limited = [], []
        self._late = set()
        self.hosts = {name: Host(self._prefix, name, number) for number, name in enumerate(names, 1)}
        atexit.register(self.close)
        self._make()

    def _make(self):
        _tool("ip", "-batch", "-", text="".join(
            f"netns add {name}\n" for name in [self._bridge, *(host.namespace for host in self.hosts.values())]))
        _tool("ip", "-n", self._bridge, "-batch", "-", text="link add name hub type bridge\nlink set hub up\n" + "".join(
            f"link add {host.port} type veth peer name eth0 netns {host.namespace}\nlink set {host.port} master hub up\n"
            for host in self.hosts.values()))
        for host in self.hosts.values():
            _tool("ip", "-n", host.namespace, "-batch", "-",
                  text=f"link set lo up\naddress add {host.address}/24 dev eth0\nlink set eth0 up\n")
        self._nft(_RULES)

    def host(self, name):
        return self.hosts[name]

    # What goes wrong

    def cut(self, name, *others, one_way=False):
        """Nothing goes between the host and the others, or anything at all; `one_way`: nothing goes to them."""
        pairs = [(name, other) for other in others or self.hosts if other != name]
        if not one_way:
            pairs += [(other, one) for one, other in pairs]
        assert not self._late & set(pairs), "what is held back would arrive all the same"
        self._drop("cut", pairs)

    def delay(self, name, *others, milliseconds):
        """A round trip between the host and each other one takes this much longer."""
        pairs = [pair for other in others for pair in ((name, other), (other, name))]
        for one in {name, *others}:
            # Otherwise packets are not whole before they leave the machine: checksums and sizes are left to the card.
            _tool("ip", "netns", "exec", self.host(one).namespace, "ethtool", "-K", "eth0", "tx", "off")
        words = [sys.executable, str(_DELAY), str(milliseconds / 2000)]
        for one, other in pairs:
            words += [":".join([self.host(one).port, self.host(one).address, self.host(other).port, self.host(other).address])]
        self._late |= set(pairs)
        self._drop("late", pairs)
        self._delays.append(self._in_bridge(words))

    def limit(self, name, rate):
        """Both ways, as tc writes it: 1mbit."""
        for namespace, device in self._line(name):
            _tool("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate, "burst", "16kb",
                  "latency", "400ms")
        self._limited.append(name)

    def heal(self):
        """As at the beginning."""
        self._nft("flush set bridge lab cut\nflush set bridge lab late\n")
        self._stop_delays()
        for namespace, device in itertools.chain.from_iterable(map(self._line, set(self._limited))):
            _tool("tc", "-n", namespace, "qdisc", "del", "dev", device, "root")
        self._limited, self._late = [], set()

    def _stop_delays(self):
        for process in self._delays:
            process.kill()
            process.communicate()
        self._delays = []

    def _line(self, name):
        host = self.host(name)
        return (self._bridge, host.port), (host.namespace, "eth0")

    def _drop(self, which, pairs):
        if pairs:
            elements = ", ".join(f"{self.host(one).address} . {self.host(other).address}" for one, other in pairs)
            self._nft(f"add element bridge lab {which} {{ {elements} }}\n")

    def _nft(self, text):
        _tool("ip", "netns", "exec", self._bridge, "nft", "-f", "-", text=text)

    def _in_bridge(self, words):
        # `ip netns exec` becomes the program itself: its process is the one that is killed.
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", self._bridge, *words],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        return process

    def close(self):
        atexit.unregister(self.close)
        self._stop_delays()
        for name in [*(host.namespace for host in self.hosts.values()), self._bridge]:
            if (_NAMESPACES / name).exists():
                _end_namespace(name)
