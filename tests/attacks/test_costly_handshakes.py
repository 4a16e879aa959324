#!/usr/bin/env python3
"""Attacker: anyone who reaches the port. They have no credentials and send a few kilobytes.

What they send in handshakes, and right after one, is chosen so that it is slow to work on: key exchange in large finite fields,
certificates with slow keys, one change of keys after the other. It must not use up the server: links stay, and callers are answered.
"""

import ctypes
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from costly_keys import certificate_of, client_with, named_curve_key, own_curve_key  # noqa: E402
from muster_cluster import DEADLINE, ClusterTest, wait_until  # noqa: E402
from process_cost import assert_cost, processor_seconds  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

CALLERS = 20
HELLOS = 200
CALLS = 3
# What the cases below take of the processor when nothing is refused: 10 s and more each, on the machine that this was written on.
MOST_SECONDS = 5


def hello_with(group):
    """The bytes of a ClientHello that offers nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        words = ["openssl", "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}", "-groups", group, "-tls1_3"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            listener.settimeout(DEADLINE)
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(DEADLINE)
                data = b""
                while len(data) < 5 or len(data) < 5 + int.from_bytes(data[3:5], "big"):
                    data += connection.recv(65536)
            client.kill()
    return data


def send_hello(port, hello):
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as connection:
        connection.sendall(hello)
        try:
            connection.recv(4096)
        except ConnectionError:
            pass


def shake(port, context):
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as plain:
        try:
            with context.wrap_socket(plain) as connection:
                connection.recv(100)
        except (ssl.SSLError, ConnectionError):
            pass


class Flood:
    """So many acts over a few threads."""

    def __init__(self, acts, act):
        self.left, self.act, self.lock, self.problems = acts, act, threading.Lock(), []
        self.threads = [threading.Thread(target=self._run) for _ in range(CALLERS)]
        for thread in self.threads:
            thread.start()

    def _run(self):
        while True:
            with self.lock:
                if self.left == 0:
                    return
                self.left -= 1
            try:
                self.act()
            except OSError as problem:
                self.problems.append(problem)

    def join(self):
        for thread in self.threads:
            thread.join()
        return self.problems


class Updater:
    """A TLS client that can ask for new keys, which Python's cannot: OpenSSL by hand, on a blocking socket."""

    def __init__(self, port):
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self.ssl = ctypes.CDLL("libssl.so.3")
        for name, result, arguments in (("TLS_client_method", pointer, []), ("SSL_CTX_new", pointer, [pointer]),
                                        ("SSL_new", pointer, [pointer]), ("SSL_set_fd", number, [pointer, number]),
                                        ("SSL_connect", number, [pointer]), ("SSL_key_update", number, [pointer, number]),
                                        ("SSL_do_handshake", number, [pointer]), ("SSL_free", None, [pointer]),
                                        ("SSL_write", number, [pointer, ctypes.c_char_p, number]),
                                        ("SSL_read", number, [pointer, ctypes.c_char_p, number])):
            function = getattr(self.ssl, name)
            function.restype, function.argtypes = result, arguments
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.connection = self.ssl.SSL_new(self.ssl.SSL_CTX_new(self.ssl.TLS_client_method()))
        self.ssl.SSL_set_fd(self.connection, self.socket.fileno())
        assert self.ssl.SSL_connect(self.connection) == 1

    def update(self, times):
        """Whether all of them could be sent."""
        return all(self.ssl.SSL_key_update(self.connection, 0) == 1 and self.ssl.SSL_do_handshake(self.connection) == 1
                   for _ in range(times))

    def ask(self):
        """The answer's first bytes; b"" when the server has closed."""
        request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        if self.ssl.SSL_write(self.connection, request, len(request)) != len(request):
            return b""
        answer = ctypes.create_string_buffer(100)
        size = self.ssl.SSL_read(self.connection, answer, len(answer))
        return answer.raw[:max(size, 0)]

    def close(self):
        self.ssl.SSL_free(self.connection)
        self.socket.close()


class CostlyHandshakes(ClusterTest):
    hosts = ("h1",)
    settings = {"limits": "{failures_per_minute: 1000000}", "heartbeat": "5s"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-attack-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def links(self, agent="h1"):
        return self.cluster.agents[agent].log.read_text().count("welcomed host=")

    def assert_bearable(self, acts, act):
        """Others are served meanwhile, and all of it costs the server little."""
        pid = self.cluster.server.process.pid
        before, links = processor_seconds(pid), self.links()
        flood = Flood(acts, act)
        for _ in range(CALLS):
            self.assertEqual(self.cluster.http("GET", "/api/v1/status").status, 200)
        self.assertEqual(flood.join(), [])
        assert_cost(self, processor_seconds(pid) - before, MOST_SECONDS)
        self.assertEqual(self.links(), links, "the agent's link was lost")
        self.assertIn("h1", self.cluster.online())

    def test_key_exchange_in_a_large_field(self):
        hello = hello_with("ffdhe8192")
        self.assert_bearable(HELLOS, lambda: send_hello(self.cluster.port, hello))

    def test_certificates_on_curves_of_their_own(self):
        certificate = certificate_of(own_curve_key())
        for count, handshakes in ((5, 20), (30, 4)):  # within the bound on a client's certificates, and past it
            with self.subTest(certificates=count):
                context = client_with(self.folder, [certificate] * count)
                self.assert_bearable(handshakes, lambda context=context: shake(self.cluster.port, context))

    def test_very_many_certificates(self):
        context = client_with(self.folder, [certificate_of(named_curve_key("secp224r1"))] * 700)
        self.assert_bearable(20, lambda: shake(self.cluster.port, context))

    def test_change_of_keys_without_end(self):
        few = Updater(self.cluster.port)
        self.addCleanup(few.close)
        self.assertTrue(few.update(20))
        self.assertTrue(few.ask().startswith(b"HTTP/1.1 200"), "new keys are not refused as such")
        many = Updater(self.cluster.port)
        self.addCleanup(many.close)
        self.assertFalse(many.update(2_000) and many.ask(), "the connection goes on")
        self.assertEqual(self.cluster.http("GET", "/api/v1/status").status, 200)


class CostlyHandshakesAtALeader(unittest.TestCase):
    def test_followers_stay(self):
        cluster = ServerCluster({"limits": "{failures_per_minute: 1000000}"}, servers=2, etcds=1, lease="30s")
        self.addCleanup(cluster.close)
        leader, follower = cluster.leader(), cluster.followers()[0]
        agent = cluster.add_agent("h1", server=follower.url)
        wait_until("the agent is online", lambda: "h1" in cluster.online())
        before, said = processor_seconds(leader.process.pid), follower.log.read_text().count("lost the leader")
        hello = hello_with("ffdhe8192")
        flood = Flood(HELLOS, lambda: send_hello(leader.port, hello))
        for _ in range(CALLS):
            self.assertEqual(cluster.at(follower).http("GET", "/api/v1/hosts").status, 200)
        self.assertEqual(flood.join(), [])
        assert_cost(self, processor_seconds(leader.process.pid) - before, MOST_SECONDS)
        self.assertEqual(follower.log.read_text().count("lost the leader"), said, follower.tail())
        self.assertTrue(leader.leads())
        self.assertTrue(agent.running())


if __name__ == "__main__":
    unittest.main()
