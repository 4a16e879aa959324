"""What servers of a cluster say of themselves while their database hangs, and who leads when a disk is full."""

import os
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402
from small_disk import SmallDisk, with_own_mounts  # noqa: E402

# Far less than any bound on the store, far more than a busy machine needs for an answer from memory.
AT_ONCE = 1.5


class FrozenStore(ClusterTest):
    """PostgreSQL stands still, as behind a disk or a network that does not answer: its connections stay open."""

    def setUp(self):
        self.cluster = ServerCluster(servers=2, etcds=1, lease="30s")
        self._own.append(self.cluster)
        self.addCleanup(self.cluster.close)
        self.frozen = []
        self.addCleanup(self.thaw)

    def freeze(self):
        """Every process of the database, its backends too."""
        pids = [int(pid) for pid in self.cluster.postgres.sql("SELECT pid FROM pg_stat_activity WHERE backend_type ="
                                                              " 'client backend' AND pid <> pg_backend_pid()")]
        self.frozen = [self.cluster.postgres.process.pid, *pids]
        for pid in self.frozen:
            os.kill(pid, signal.SIGSTOP)

    def thaw(self):
        for pid in self.frozen:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.frozen = []

    def test_health_never_waits_for_the_store(self):
        leader, follower = self.cluster.leader(), self.cluster.followers()[0]
        self.freeze()
        # Callers who wait for the store take every worker there is.
        waiting = [self.cluster.begin("--server", member.url, "runs") for member in (leader, follower) for _ in range(8)]

        def asked(member, path):
            return self.cluster.at(member).http("GET", path, token=None, timeout=AT_ONCE)

        def known():
            for member in (leader, follower):
                self.assertEqual(asked(member, "/healthz").status, 200)
                self.assertEqual(asked(member, "/metrics").status, 200)
                asked(member, "/readyz")
            return [member for member in (leader, follower) if asked(member, "/readyz").status != 503] == []

        wait_until("both say that they are not ready", known)
        wait_until("and why", lambda: b"postgres" in asked(follower, "/readyz").body)

        def refused_at_once():
            """A server that knows it is cut off asks nobody who may call."""
            try:
                answer = self.cluster.at(follower).http("GET", "/api/v1/runs/r1/log?host=h1", token="nobody", timeout=AT_ONCE)
            except TimeoutError:
                return False
            return answer.status == 503

        wait_until("a call is refused at once", refused_at_once)
        began = time.monotonic()
        for _ in range(20):
            self.assertTrue(refused_at_once())
        self.assertLess(time.monotonic() - began, 20 * AT_ONCE)
        self.thaw()
        self.cluster.wait_ready()
        for command in waiting:
            command.finish()


class FullDisk(ClusterTest):
    def setUp(self):
        outer = self

        class WithSmallDisk(ServerCluster):
            """Its first server has its data on a disk that the test can fill."""

            def _make_parts(self):
                outer.disk = SmallDisk(self.folder / "s1", "64m")
                outer.addCleanup(outer.disk.close)
                super()._make_parts()

        self.cluster = WithSmallDisk(settings={"disk": '{"stop_runs_below": "16MB"}'}, servers=2, etcds=1, lease="5s")
        self._own.append(self.cluster)
        self.addCleanup(self.cluster.close)
        self.cluster.add_agent("h1", server=",".join(member.url for member in self.cluster.members))
        self.cluster.wait_online("h1")

    def states(self):
        return {server["name"]: server for server in self.cluster.get("/servers")["servers"]}

    def test_leader_with_a_full_disk_leaves_the_lead_to_one_that_has_room(self):
        first, second = self.cluster.members
        self.assertIs(self.cluster.leader(), first)
        self.cluster.front = second
        self.disk.fill(leave_pages=1024)
        wait_until("the other one leads", second.leads)
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        wait_until("it is said why", lambda: "no new runs" in self.states()["s1"]["trouble"])

        with self.subTest("alone, it leads again, and refuses runs"):
            second.end(signal.SIGKILL)
            self.cluster.front = first
            wait_until("the first one leads", first.leads)
            self.cluster.wait_online("h1")
            self.assertEqual(wait_until("its gate is closed", lambda: self.cluster.get("/status")["gates"])[0]["gate"],
                             "disk_low")

        with self.subTest("with room it goes on"):
            self.disk.give_back()
            wait_until("its gate is open", lambda: not self.cluster.get("/status")["gates"])
            self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)


if __name__ == "__main__":
    with_own_mounts()
    unittest.main(verbosity=2)
