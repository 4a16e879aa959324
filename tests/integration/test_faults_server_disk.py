"""A full disk under the server while tasks talk: it says so, nothing is corrupt, and the work goes on when there
is room again."""

import hashlib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from chaos import check_databases  # noqa: E402
from muster_cluster import FINAL_RUN, Cluster, ClusterTest, wait_until  # noqa: E402
from small_disk import SmallDisk, with_own_mounts  # noqa: E402


class ServerOnSmallDisk(Cluster):
    def _first_start(self):
        self.disk = SmallDisk(self.data, "24m")
        super()._first_start()


class FullDisk(ClusterTest):
    TASKS = 5

    def setUp(self):
        self.cluster = ServerOnSmallDisk()
        self.addCleanup(self.cluster.close)
        self.addCleanup(self.cluster.disk.close)  # first: a folder with a mount in it cannot be removed
        self.cluster.add_agents("h1", "h2")

    def test_output_of_running_tasks_waits_for_room(self):
        """Output that nobody can compress, more of it than the disk has room for."""
        cluster = self.cluster
        block, gate = cluster.folder / "block", cluster.folder / "gate"
        with open("/dev/urandom", "rb") as source:
            block.write_bytes(source.read(1_000_000))
        line = f"echo begun; until test -e {gate}; do sleep 0.05; done; cat {block}; exit 3"
        runs = [cluster.start_run("-t", "all", "--", line) for _ in range(self.TASKS)]
        for run in runs:
            for host in ("h1", "h2"):
                wait_until("its first line has arrived", lambda: cluster.log_of(run, host) == b"begun\n")
        cluster.add_agents("away")
        cluster.agents["away"].end()
        cluster.wait_offline("away")
        cluster.disk.fill()
        gate.touch()
        wait_until("all scripts have ended", lambda: self.ended_on("h1") + self.ended_on("h2") == 2 * self.TASKS)
        answer = wait_until("a start is refused", self.refused_start)
        self.assertIn(f"the server's disk is full ({cluster.data})", answer.json()["error"]["message"])
        self.assertNotIn("sqlite", answer.json()["error"]["message"])
        self.assertTrue(cluster.get("/status")["disk"]["full"])
        self.assertIn("; FULL: ", cluster.muster("status").text)
        notes = {host["name"]: host["note"] for host in cluster.get("/hosts")["hosts"]}
        self.assertIn("disk is full", notes["away"], "so its link may have been closed for that")
        self.assertIn("disk is full", cluster.get("/hosts/away")["note"])
        for run in runs:
            now = cluster.run_of(run)
            self.assertTrue(now["state"] not in FINAL_RUN or now["logs_open"] > 0, now)
            left = self.assertCode(cluster.muster("wait", run, "--timeout", "100ms"), 124)
            self.assertIn("has ended" if now["state"] in FINAL_RUN else "goes on", left.complaint)
        self.assertEqual(cluster.http("GET", "/healthz", token=None).status, 200)
        cluster.disk.give_back()
        self.assertFalse(cluster.get("/status")["disk"]["full"])
        self.assertEqual(cluster.get("/hosts/away")["note"], "")
        wanted = hashlib.sha256(b"begun\n" + block.read_bytes()).hexdigest()
        for run in runs:
            self.assertEqual(cluster.wait_end(run)["counts"], {"failed": 2})
            for host, task in cluster.tasks_of(run).items():
                self.assertEqual((task["exit_code"], task["log"]["state"]), (3, "complete"), task)
                self.assertEqual(task["log"]["stdout_sha256"], wanted)
                self.assertEqual(hashlib.sha256(cluster.log_of(run, host)).hexdigest(), wanted)
        wait_until("a start is accepted", lambda: self.start().status == 201)
        cluster.server.end()
        check_databases(cluster.data)
        cluster.start_server()
        self.assertEqual(hashlib.sha256(cluster.log_of(runs[0], "h1")).hexdigest(), wanted)

    def ended_on(self, host):
        return self.cluster.agents[host].log.read_text().count("task ended")

    def start(self):
        return self.cluster.http("POST", "/api/v1/runs", {"targets": "h1", "command": {"argv": ["true"]}})

    def refused_start(self):
        """A call that is in the batch which cannot be written is told that it may still happen."""
        answer = self.start()
        self.assertIn(answer.status, (201, 503, 504), answer)
        return answer if answer.status == 503 else None


if __name__ == "__main__":
    with_own_mounts()
    unittest.main(verbosity=2)
