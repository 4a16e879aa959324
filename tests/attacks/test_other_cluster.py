#!/usr/bin/env python3
"""A server of another cluster, which was made from a copy of this one, takes over this one's hosts.

The attacker has a copy of the cluster for tests, with its CA's key and its hosts on record, and leads there. Its tickets for
terms are signed by the same CA. A host that joined the real cluster must obey none of them, nor keep a term of theirs; it must be
back with the real one at once.
"""

import signal
import sqlite3
import sys
import unittest
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest, wait_until  # noqa: E402

OTHER = "0" * 32


class OtherCluster(ClusterTest):
    hosts = ("h1",)

    def set_cluster(self, cluster):
        """What stands at the server's address from now on is a server of this cluster."""
        self.cluster.server.end(signal.SIGTERM)
        with closing(sqlite3.connect(self.cluster.data / "muster.db")) as database, database:
            before = database.execute("SELECT bytes FROM meta WHERE name = 'cluster'").fetchone()[0]
            database.execute("UPDATE meta SET bytes = ? WHERE name = 'cluster'", (cluster,))
        self.cluster.start_server()
        return before

    def test_host_obeys_its_own_cluster_only(self):
        agent = self.cluster.agents["h1"]
        # A host is online before its first term is on disk.
        wait_until("the host's term is on disk", (agent.data / "proven_term").exists)
        own = self.set_cluster(OTHER)
        wait_until("the host says why it refuses", lambda: f"cluster {OTHER}" in agent.log.read_text())
        proven = (agent.data / "proven_term").read_text()
        self.cluster.wait_offline("h1")
        run = self.cluster.start_run("-t", "h1", "--wait-offline", "1s", "--", "true")
        self.assertEqual(self.cluster.wait_task(run, "h1", "unreachable")["state"], "unreachable")
        self.assertEqual((agent.data / "proven_term").read_text(), proven)
        self.set_cluster(own)
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)


if __name__ == "__main__":
    unittest.main()
