#!/usr/bin/env python3
"""Attacker: anyone who reaches the port, without a token or with a made-up one. They ask for the largest public document again and
again, and read nothing.

What waits for them must stay bounded, in the server's memory and in the kernel's, and others be answered meanwhile.
"""

import resource
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import Wire  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, most_memory_of  # noqa: E402

CONNECTIONS = 900
REQUEST = b"GET /api/v1/openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n"
MADE_UP = b"Authorization: Bearer mt1.made.up\r\n"
# Of all connections. Without the server's bounds the kernel takes 2.5 MiB for each of its ends, or 180 KiB if only the one for each
# connection holds.
MOST_IN_KERNEL = 110 * MIB
MOST_GROWTH = 100 * MIB
SOON = 15  # seconds; connections that wait for longer without a byte taken are closed anyway


def in_kernel():
    """What all TCP sockets of the machine have waiting, in bytes."""
    words = next(line for line in Path("/proc/net/sockstat").read_text().splitlines() if line.startswith("TCP:")).split()
    return int(words[words.index("mem") + 1]) * resource.getpagesize()


class SmallWindow(Wire):
    """Takes little into its own end, so that it is the server's end that is measured."""

    def __init__(self, port):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", port))


class UnreadAnswers(ClusterTest):
    hosts = ("h1",)

    def test_without_a_token(self):
        self.ask_and_do_not_read(REQUEST % b"")

    def test_with_a_token_that_is_none(self):
        self.ask_and_do_not_read(REQUEST % MADE_UP)

    # Plain HTTP, which loopback may: the client's end of TLS would only cost time here.
    def ask_and_do_not_read(self, request):
        pid = self.cluster.server.process.pid
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, CONNECTIONS + 1_000), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        forget_most_memory(pid)
        memory, kernel = most_memory_of(pid), in_kernel()
        wires = []
        self.addCleanup(lambda: [wire.socket.close() for wire in wires])
        for _ in range(CONNECTIONS):
            wires.append(SmallWindow(self.cluster.port))
            wires[-1].socket.sendall(request * 40)
        metrics = self.cluster.http("GET", "/metrics", token=None).body.decode()
        self.assertIn("muster_connections", metrics)
        # The bound holds from the next look on, which is at most a second away.
        wait_until("the kernel keeps little", lambda: in_kernel() - kernel < MOST_IN_KERNEL, SOON)
        self.assertEqual(self.cluster.http("GET", "/api/v1/status").status, 200)
        self.assertEqual(self.cluster.http("GET", "/api/v1/openapi.yaml", token=None).status, 200)
        assert_cost(self, most_memory_of(pid) - memory, MOST_GROWTH)


if __name__ == "__main__":
    unittest.main()
