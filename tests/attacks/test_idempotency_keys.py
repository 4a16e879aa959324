#!/usr/bin/env python3
"""One idempotency key is made to mean two things, or a forgotten one to bring a revoked secret back.

The attacker is a caller who knows a key (keys are no secrets: they are in logs and scripts), or a person who kept the
secret of a token that was revoked. A key must not answer for another call than the one it was sent with, and a key that is sent
again after it was forgotten must not make the old secret good again.
"""

import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402


class IdempotencyKeys(ClusterTest):
    hosts = ("h1",)

    def post(self, path, body, key, cluster=None):
        return (cluster or self.cluster).http("POST", "/api/v1" + path, body, headers={"Idempotency-Key": key})

    def jobs(self, *names):
        file = self.cluster.folder / "jobs.yaml"
        file.write_text("---\n".join(f"apiVersion: muster/v1\nkind: job\nname: {name}\ntargets: h1\n"
                                     f"stages: [{{name: work, script: echo {name}}}]\n" for name in names))
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)

    def test_key_belongs_to_its_path(self):
        self.jobs("one", "two")
        first = self.post("/jobs/one/start", {}, "K1").json()["id"]
        second = self.post("/jobs/two/start", {}, "K1").json()["id"]
        self.assertNotEqual(first, second, "the second job was never started")
        self.assertEqual(self.cluster.run_of(second)["job"], "two")
        self.assertEqual(self.post("/jobs/one/start", {}, "K1").json()["id"], first)
        self.assertEqual(self.post("/jobs/two/start", {}, "K1").json()["id"], second)

    def test_key_belongs_to_every_spelling_of_its_path(self):
        self.jobs("abc")
        first = self.post("/jobs/abc/start", {}, "K6").json()["id"]
        for path in ("/jobs/%61bc/start", "/jobs/a%62%63/start"):
            self.assertEqual(self.post(path, {}, "K6").json()["id"], first, "the job was started twice")

    def test_key_belongs_to_every_spelling_of_a_run(self):
        self.jobs("seven")
        run = self.post("/jobs/seven/start", {}, "K7").json()["id"]
        self.cluster.wait_end(run)
        first = self.post(f"/runs/{run}/rerun", {}, "K8").json()["id"]
        for spelled in (run[1:], "%72" + run[1:]):
            self.assertEqual(self.post(f"/runs/{spelled}/rerun", {}, "K8").json()["id"], first, "the run was started twice")

    def test_key_with_another_body_is_refused(self):
        self.jobs("three")
        self.assertEqual(self.post("/jobs/three/start", {}, "K2").status, 201)
        self.assertEqual(self.post("/jobs/three/start", {"reason": "other"}, "K2").status, 422)

    def test_key_of_one_call_cannot_be_written_as_the_key_of_another(self):
        self.jobs("four", "five")
        first = self.post("/jobs/four/start", {}, "K3").json()["id"]
        second = self.post("/jobs/five/start", {}, "POST /api/v1/jobs/four/start K3").json()["id"]
        self.assertNotEqual(first, second)

    def forget_keys(self, cluster):
        """As seven days later."""
        cluster.server.end()
        database = sqlite3.connect(cluster.data / "muster.db")
        with database:
            database.execute("DELETE FROM idempotency_key")
        database.close()
        cluster.start_server()

    def whoami(self, cluster, secret):
        return cluster.http("GET", "/api/v1/whoami", token=secret).status

    def test_revoked_token_stays_revoked(self):
        cluster = self.new_cluster()
        body = {"name": "alice", "role": "admin"}
        made = self.post("/tokens", body, "K4", cluster).json()["token"]
        self.assertEqual(self.post("/tokens", body, "K4", cluster).json()["token"], made, "a lost answer")
        self.assertEqual(self.whoami(cluster, made), 200)
        self.assertCode(cluster.muster("tokens", "revoke", "alice"), 0)
        self.assertEqual(self.post("/tokens", body, "K4", cluster).status, 422)
        self.assertEqual(self.whoami(cluster, made), 401)
        self.forget_keys(cluster)
        again = self.post("/tokens", body, "K4", cluster)
        self.assertEqual(again.status, 201, again)
        self.assertNotEqual(again.json()["token"], made)
        self.assertEqual(self.whoami(cluster, made), 401, "the revoked secret works again")
        self.assertEqual(self.whoami(cluster, again.json()["token"]), 200)

    def test_used_up_join_token_stays_used_up(self):
        cluster = self.new_cluster()
        made = self.post("/agents/invites", {}, "K5", cluster).json()["token"]
        self.assertEqual(self.post("/agents/invites", {}, "K5", cluster).json()["token"], made, "a lost answer")
        self.forget_keys(cluster)
        again = self.post("/agents/invites", {}, "K5", cluster)
        self.assertEqual(again.status, 201, again)
        self.assertNotEqual(again.json()["token"], made)


if __name__ == "__main__":
    unittest.main()
