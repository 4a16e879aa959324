#!/usr/bin/env python3
"""Attacker: anyone who reaches the port, also a local user of the server's machine. They have no credentials.

They hold thousands of connections open that send nothing, and open each one again that the server closes. Callers and agents
must be served meanwhile, also those that come from the same address.
"""

import resource
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

# Opens COUNT connections to PORT, and each one again that ends. Prints a line when all have begun; ends with its input.
FLOOD = """
import selectors, socket, sys
port, count = int(sys.argv[1]), int(sys.argv[2])
ready = selectors.DefaultSelector()
ready.register(sys.stdin, selectors.EVENT_READ)
def connect():
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    ready.register(connection, selectors.EVENT_READ)
for _ in range(count):
    connect()
print("all", flush=True)
while True:
    for key, _ in ready.select():
        if key.fileobj is sys.stdin:
            sys.exit()
        try:
            if key.fileobj.recv(100):
                continue
        except OSError:
            pass
        ready.unregister(key.fileobj)
        key.fileobj.close()
        connect()
"""
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
CONNECTIONS = 6_000 if HARD == resource.RLIM_INFINITY else min(6_000, HARD - 200)


def raise_file_limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))


class SilentSockets(ClusterTest):
    def flood(self, cluster, count):
        words = [sys.executable, "-c", FLOOD, str(cluster.port), str(count)]
        flood = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=raise_file_limit)
        self.addCleanup(flood.stdout.close)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.stdin.close)
        self.assertEqual(flood.stdout.readline(), b"all\n")
        return flood

    def serves_others(self, cluster, flood):
        self.assertCode(cluster.muster("status"), 0)
        agent = cluster.agents["good"]
        agent.end()
        cluster.wait_offline("good")
        agent.start()
        cluster.wait_online("good")
        self.assertCode(cluster.muster("run", "-t", "good", "--", "true"), 0)
        self.assertIsNone(flood.poll(), "the flood goes on")

    def test_more_than_handshakes_at_a_time(self):
        cluster = self.new_cluster("good")
        self.serves_others(cluster, self.flood(cluster, CONNECTIONS))

    def test_more_than_connections(self):
        cluster = self.new_cluster("good", settings={"limits": "{failures_per_minute: 100000, max_connections: 200}"})
        self.serves_others(cluster, self.flood(cluster, 1_000))


if __name__ == "__main__":
    unittest.main()
