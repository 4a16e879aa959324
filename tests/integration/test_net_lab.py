"""The network of namespaces that other tests break: what is cut, held back or throttled, and only that."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_processes import wait_until  # noqa: E402
from net_lab import NetLab  # noqa: E402

PORT = 7
ECHO = f"""
import socket, threading
def echo(connection):
    while said := connection.recv(1 << 16):
        connection.sendall(said)
with socket.create_server(("", {PORT})) as server:
    while True:
        threading.Thread(target=echo, args=(server.accept()[0],), daemon=True).start()
"""
OWNER = """
import sys, signal
sys.path.insert(0, sys.argv[1])
from net_lab import NetLab
lab = NetLab("one")
lab.host("one").start(["sleep", "600"], "/dev/null")
print(lab.host("one").namespace, flush=True)
signal.pause()
"""


class NetLabTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.lab = NetLab("one", "two", "three")
        cls.addClassCleanup(cls.lab.close)
        for name in ("two", "three"):
            daemon = cls.lab.host(name).start([sys.executable, "-c", ECHO], Path(place.name, name))
            cls.addClassCleanup(daemon.end)

    def setUp(self):
        self.addCleanup(self.lab.heal)
        self.two, self.three = self.connect("two"), self.connect("three")

    def connect(self, name):
        def connected():
            try:
                with self.lab.host("one").inside():
                    return socket.create_connection((self.lab.host(name).address, PORT), 5)
            except OSError:
                return None
        connection = wait_until(f"{name} answers", connected)
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def echo(connection, size=1):
        """Until all of it is back."""
        connection.sendall(b"x" * size)
        while size > 0:
            size -= len(connection.recv(1 << 16))

    def assert_silent(self, connection):
        connection.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            self.echo(connection)
        connection.settimeout(30)

    def test_what_is_cut_is_silent_until_healed(self):
        self.lab.cut("one", "two")
        self.assert_silent(self.two)
        self.echo(self.three)
        self.lab.heal()
        self.two.settimeout(30)
        self.assertEqual(self.two.recv(1), b"x")  # sent before, and again

    def test_a_host_is_cut_from_all(self):
        self.lab.cut("one")
        self.assert_silent(self.two)
        self.assert_silent(self.three)

    def test_one_way_lets_the_other_pass(self):
        self.lab.cut("two", "one", one_way=True)
        received = int(self._received("two"))
        self.assert_silent(self.two)
        self.assertGreater(int(self._received("two")), received)

    def _received(self, name):
        with self.lab.host(name).inside():
            lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
        return next(line for line in lines if "eth0" in line).split()[2]

    def test_round_trips_take_longer_and_all_arrives(self):
        self.echo(self.two)
        self.lab.delay("one", "two", milliseconds=200)
        self.echo(self.two, 200_000)
        self.echo(self.connect("two"))

    def test_what_is_late_is_on_its_way(self):
        """An hour late: nothing can be back before the test looks."""
        self.lab.delay("one", "two", milliseconds=3_600_000)
        self.assert_silent(self.two)
        self.echo(self.three)

    def test_a_line_carries_no_more_than_its_rate(self):
        self.lab.limit("one", "1mbit")
        self.echo(self.two, 100_000)
        queue = self._queue("one")
        self.assertEqual(queue["options"]["rate"], 125_000)
        self.assertGreater(queue["overlimits"], 0)  # packets that had to wait for it

    def _queue(self, name):
        """What the kernel tells of the line's rate."""
        with self.lab.host(name).inside():
            told = subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", "eth0"], capture_output=True, check=True).stdout
        return next(queue for queue in json.loads(told) if queue["kind"] == "tbf")

    def test_what_a_killed_program_left_is_removed_by_the_next(self):
        support = Path(__file__).resolve().parents[1] / "support"
        owner = subprocess.Popen([sys.executable, "-c", OWNER, str(support)], stdout=subprocess.PIPE)
        with owner:
            namespace = owner.stdout.readline().decode().strip()
            self.assertIn(namespace, os.listdir("/run/netns"))
            owner.send_signal(signal.SIGKILL)
        again = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"
                                "from net_lab import NetLab\nNetLab('one').close()", str(support)], check=False)
        self.assertEqual(again.returncode, 0)
        self.assertNotIn(namespace, os.listdir("/run/netns"))


if __name__ == "__main__":
    unittest.main()
