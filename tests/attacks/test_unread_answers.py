#!/usr/bin/env python3
"""Attacker: anyone who reaches the port, without a token. They ask for the largest public document again and again, and read nothing.

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

CONNECTIONS = 400
REQUEST = b"GET /api/v1/openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# Of all connections. Without a bound of the server the kernel takes 2.5 MiB for each of its ends.
MOST_IN_KERNEL = 250 * MIB
MOST_GROWTH = 60 * MIB


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

    # Plain HTTP, which loopback may: the client's end of TLS would only cost time here.
    def test_what_waits_stays_bounded(self):
        pid = self.cluster.server.process.pid
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, CONNECTIONS + 1_000), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        forget_most_memory(pid)
        memory, kernel = most_memory_of(pid), in_kernel()
        for _ in range(CONNECTIONS):
            wire = SmallWindow(self.cluster.port)
            self.addCleanup(wire.socket.close)
            wire.socket.sendall(REQUEST * 40)
        metrics = self.cluster.http("GET", "/metrics", token=None).body.decode()
        self.assertIn("muster_connections", metrics)
        # The bound holds from the next look on, which is at most a second away.
        wait_until("the kernel keeps little", lambda: in_kernel() - kernel < MOST_IN_KERNEL)
        self.assertEqual(self.cluster.http("GET", "/api/v1/status").status, 200)
        self.assertEqual(self.cluster.http("GET", "/api/v1/openapi.yaml", token=None).status, 200)
        assert_cost(self, most_memory_of(pid) - memory, MOST_GROWTH)


if __name__ == "__main__":
    unittest.main()
