"""The command line when a server of its list is cut off or stands still: it goes to another one."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from tcp_proxy import TcpProxy  # noqa: E402

# Silence is doubted after seconds, and a server that stands still is left after some more.
SOON = 50


class CutOff(StubHandler):
    """A follower that knows that it is cut off, or one that gives its leader up."""

    def do_GET(self):
        self.server.asked.append(self.command)
        self.content()
        self.answer(self.server.status, {"error": {"code": self.server.code, "message": "nobody answers"}})

    do_POST = do_GET


class OtherServers(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster("h1")

    def proxy(self):
        proxy = TcpProxy(self.cluster.port)
        self.addCleanup(proxy.close)
        return proxy

    def test_a_server_that_is_cut_off_is_left_at_once(self):
        stub = serve_stub(self, CutOff, status=503, code="unavailable", asked=[])
        servers = f"{stub.url},{self.cluster.url}"
        outcome = self.cluster.muster("--server", servers, "run", "-t", "h1", "--", "echo hi")
        self.assertEqual((self.assertCode(outcome, 0).text, stub.asked.count("POST")), ("hi\n", 1))

    def test_a_call_that_may_have_happened_is_not_made_twice(self):
        stub = serve_stub(self, CutOff, status=504, code="timeout", asked=[])
        servers = f"{stub.url},{self.cluster.url}"
        frozen = self.cluster.muster("--server", servers, "freeze", "triggers", "--reason", "disk", "--yes")
        self.assertCode(frozen, 5)
        self.assertEqual(stub.asked, ["POST"])
        # A start carries its key, so it goes on to the next server.
        self.assertCode(self.cluster.muster("--server", servers, "run", "-t", "h1", "--", "true"), 0)

    def test_an_open_run_goes_on_at_another_server(self):
        first, second = self.proxy(), self.proxy()
        run = GatedRun(self.cluster, "h1", "--server", f"{first.url},{second.url}")
        first.stall()
        run.open_gate()
        outcome = self.assertCode(run.waiter.finish(SOON), 0)
        self.assertEqual(outcome.text, "begun\ndone\n")
        self.assertGreater(second.accepted, 0)

    def test_output_of_one_host_goes_on_at_another_server(self):
        first, second = self.proxy(), self.proxy()
        run = GatedRun(self.cluster, "h1")
        follower = self.cluster.begin("--server", f"{first.url},{second.url}", "logs", run.id, "--host", "h1", "-f")
        wait_until("the output is followed", lambda: "begun" in follower.said()[0] and first.open > 1)
        first.stall()
        run.open_gate()
        self.assertEqual(self.assertCode(follower.finish(SOON), 0).text, "begun\ndone\n")
        run.finish()


if __name__ == "__main__":
    unittest.main()
