"""Several servers for one host: two proxies stand for two servers of a cluster, before one musterd."""

import re
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import BIN, ClusterTest, free_port, wait_until  # noqa: E402
from tcp_proxy import TcpProxy  # noqa: E402


class Servers(ClusterTest):
    hosts = ()

    def setUp(self):
        self.cluster = self.new_cluster(settings={"reconnect_bound": "1s"})
        self.one, self.two = self.new_proxy(), self.new_proxy()
        self.both = f"{self.one.url},{self.two.url}"

    def new_proxy(self):
        proxy = TcpProxy(self.cluster.port)
        self.addCleanup(lambda: None if proxy._loop.is_closed() else proxy.close())
        return proxy

    @staticmethod
    def used(agent):
        """The servers that welcomed this agent, in order."""
        return re.findall(r"welcomed .* server=(\S+)", agent.log.read_text())

    def other(self, proxy):
        return self.two if proxy is self.one else self.one


class Agents(Servers):
    def test_agents_move_when_their_server_goes_and_their_scripts_go_on(self):
        agents = [self.cluster.add_agent(f"h{number}", server=self.both) for number in range(1, 5)]
        self.cluster.wait_online("h1", "h2", "h3", "h4")
        run = GatedRun(self.cluster, "h1")
        lost = self.one if self.used(agents[0])[-1] == self.one.url else self.two
        left = self.other(lost)
        lost.close()
        wait_until("all go over the other", lambda: all(self.used(agent)[-1] == left.url for agent in agents))
        run.open_gate()
        run.assert_ended_once(self)
        outcome = self.assertCode(self.cluster.muster("run", "-t", "h*", "--wait-offline", "1m", "--", "echo here"), 0)
        self.assertEqual(outcome.text.count("here"), 4)

    def test_agent_joins_at_the_server_that_answers_and_remembers_all(self):
        away = f"https://127.0.0.1:{free_port()}"
        agent = self.cluster.add_agent("h1", server=self.both, options=("--server", away))
        self.cluster.wait_online("h1")
        agent.end(signal.SIGTERM)
        self.one.close()
        agent.start()
        wait_until("it comes over the one that is left", lambda: self.used(agent)[-1] == self.two.url)
        self.cluster.wait_online("h1")


class Fleet(Servers):
    COUNT = 60

    def test_emulated_hosts_spread_and_move(self):
        token = self.cluster.invite(uses=self.COUNT, replace=True)
        self.cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", self.one.url, "--server", self.two.url,
                                          "--count", self.COUNT], {"MUSTER_JOIN": token})

        def all_over(*proxies):
            return self.cluster.get("/status")["online"] == self.COUNT == sum(proxy.open for proxy in proxies)
        wait_until("all are online", lambda: all_over(self.one, self.two), 120)
        # Half each by their own hashes: a third less of 60 is a chance of one in ten thousand.
        self.assertGreater(min(self.one.open, self.two.open), 13)
        self.one.close()
        wait_until("all are online over the other", lambda: all_over(self.two), 120)


if __name__ == "__main__":
    unittest.main()
