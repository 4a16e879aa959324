"""A network between agent and server that stalls, cuts, delays and forgets: scripts go on, each order is
obeyed once, and what they said arrives whole."""

import hashlib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from tcp_proxy import TcpProxy  # noqa: E402


class Network(ClusterTest):
    """One host behind the proxy. Silence is noticed after three heartbeats and 5 s."""

    def setUp(self):
        self.cluster = self.new_cluster(settings={"heartbeat": "200ms", "order_life": "2s"})
        self.proxy = TcpProxy(self.cluster.port)
        self.addCleanup(self.proxy.close)
        self.agent = self.cluster.add_agent("h1", server=self.proxy.url)
        self.cluster.wait_online("h1")

    def wait_reconnected(self, before):
        wait_until("the agent connects again", lambda: self.proxy.accepted > before)
        self.cluster.wait_online("h1")


class HalfOpen(Network):
    def test_both_ends_notice_silence_and_the_script_goes_on(self):
        run = GatedRun(self.cluster, "h1")
        before = self.proxy.accepted
        self.proxy.stall()
        self.cluster.wait_offline("h1")
        wait_until("the agent tries again", lambda: self.proxy.accepted > before)
        run.open_gate()
        self.proxy.flow()
        run.assert_ended_once(self)

    def test_link_that_the_server_has_forgotten_is_given_up(self):
        before = self.proxy.accepted
        self.proxy.cut_server_side()
        self.cluster.wait_offline("h1")
        # Its order waits for the host, which does not know yet that it has no link.
        waiter = self.cluster.begin("run", "-t", "h1", "--wait-offline", "5m", "--", "echo here")
        self.wait_reconnected(before)
        outcome = self.assertCode(waiter.finish(), 0)
        self.assertEqual(outcome.text, "here\n")

    def test_order_held_back_past_its_time_is_not_obeyed(self):
        """The order lies in the network until its link is replaced; then it arrives after all."""
        marks = self.cluster.folder / "marks"
        before = self.proxy.accepted
        self.proxy.stall(new_too=False)
        run = self.cluster.start_run("-t", "h1", "--wait-offline", "5m", "--", f"echo x >> {marks}; echo once")
        self.cluster.wait_task(run, "h1", "sent")
        self.wait_reconnected(before)
        self.proxy.flow()
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": 1})
        self.assertEqual(self.cluster.log_of(run, "h1"), b"once\n")
        # A later task on the same host is behind whatever the first order could still do.
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        self.assertEqual(marks.read_text(), "x\n")

    def test_stop_that_was_stalled_reaches_the_host(self):
        run = GatedRun(self.cluster, "h1")
        self.proxy.stall()
        self.assertCode(self.cluster.muster("stop", run.id), 0)
        self.cluster.wait_offline("h1")
        self.proxy.flow()
        self.assertCode(run.finish(), 1)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"killed": 1})


class Cuts(Network):
    CUTS = 8
    MEGABYTES = 24

    def test_output_is_whole_over_many_cut_links(self):
        """Cut whenever some more of it has arrived, so each link has to go on in the middle."""
        block = self.cluster.folder / "block"
        block.write_bytes(bytes(range(256)) * 4096)
        run = self.cluster.start_run("-t", "h1", "--max-output", f"{self.MEGABYTES + 1}MB", "--", f"for i in $(seq "
                                     f"{self.MEGABYTES}); do cat {block}; echo $i >&2; done")
        path = f"/api/v1/runs/{run}/log?host=h1&limit=1&tail=1"

        def arrived():
            return int(self.cluster.http("GET", path).headers["Muster-Next-Offset"])

        for number in range(1, self.CUTS + 1):
            mark = number * (self.MEGABYTES << 20) // (self.CUTS + 2)
            wait_until(f"{mark} bytes have arrived", lambda: arrived() >= mark)
            self.proxy.cut()
        self.cluster.wait_end(run)
        log = self.cluster.task_of(run, "h1")["log"]
        self.assertEqual(log["state"], "complete", log)
        out = hashlib.sha256(block.read_bytes() * self.MEGABYTES).hexdigest()
        self.assertEqual(log["stdout_sha256"], out)
        self.assertEqual(hashlib.sha256(self.cluster.log_of(run, "h1", "stdout")).hexdigest(), out)
        self.assertEqual(self.cluster.log_of(run, "h1", "stderr"),
                         "".join(f"{i}\n" for i in range(1, self.MEGABYTES + 1)).encode())

    def test_refused_connections_are_tried_again(self):
        run = GatedRun(self.cluster, "h1")
        before = self.proxy.accepted
        self.proxy.refuse()
        self.proxy.cut()
        wait_until("it was refused twice", lambda: self.proxy.accepted >= before + 2)
        run.open_gate()
        self.proxy.refuse(False)
        run.assert_ended_once(self)

    def test_slow_network_is_only_slow(self):
        self.proxy.delay(0.15)
        run = GatedRun(self.cluster, "h1")
        run.open_gate()
        run.assert_ended_once(self)


if __name__ == "__main__":
    unittest.main(verbosity=2)
