#!/usr/bin/env python3
"""Write access to etcd for a moment: members that are no servers, at addresses that accept connections and stay silent.

Agents keep the addresses that a server tells them. They must not be told of any that never proved to be a server, and an agent
that has a list of wrong ones must still find its server soon.
"""

import signal
import socket
import sys
import unittest
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fake_leader import put, remove  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

WRONG = 40


class SilentAddresses(unittest.TestCase):
    def setUp(self):
        """Sockets on loopback addresses of their own, which accept and say nothing."""
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.urls = []
        port = 0
        for number in range(WRONG):
            silent = stack.enter_context(socket.create_server((f"127.9.1.{1 + number}", port), backlog=100))
            port = silent.getsockname()[1]
            self.urls.append(f"https://127.9.1.{1 + number}:{port}")

    def test_agents_are_told_of_proven_servers_only(self):
        cluster = ServerCluster(servers=1, etcds=1)
        self.addCleanup(cluster.close)
        cluster.add_agents("h1")
        agent = cluster.agents["h1"]
        for number, url in enumerate(self.urls):
            put(cluster.etcd, f"/muster/members/x{number:03}",
                {"name": f"x{number:03}", "url": url, "version": "0.1.0", "labels": {}, "links": 0})
        wait_until("the server sees them", lambda: len(cluster.get("/servers")["servers"]) == WRONG + 1)
        # A server tells its list with each welcome.
        agent.end()
        before = agent.log.read_text().count("welcomed host")
        agent.start()
        wait_until("the agent is welcomed again", lambda: agent.log.read_text().count("welcomed host") > before)
        wait_until("the agent is told where its server is", lambda: cluster.url in (agent.data / "servers").read_text()
                   if (agent.data / "servers").exists() else False)
        cluster.server.end(signal.SIGKILL)
        for number in range(WRONG):
            remove(cluster.etcd, f"/muster/members/x{number:03}")
        cluster.server.start()
        cluster.wait_ready()
        cluster.wait_online("h1")
        self.assertNotIn("127.9.1.", (agent.data / "servers").read_text())
        self.assertNotIn("127.9.1.", agent.log.read_text())


class WrongList(ClusterTest):
    hosts = ("h1",)
    setUp = SilentAddresses.setUp

    def test_agent_with_a_wrong_list_is_back_soon(self):
        agent = self.cluster.agents["h1"]
        agent.end()
        (agent.data / "servers").write_text("".join(f"{url}\n" for url in [*self.urls, self.cluster.url]))
        agent.start()
        self.cluster.wait_online("h1")
        self.cluster.restart_server(signal.SIGKILL)
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)


if __name__ == "__main__":
    unittest.main()
