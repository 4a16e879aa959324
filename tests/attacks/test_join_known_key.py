#!/usr/bin/env python3
"""A thief with a host's old key gets a certificate without being invited.

The attacker copied the private key of a host (a backup, an old disk) and has a join token that is used up, expired, made
up, or for other hosts. They must not get a certificate for the host, and each certificate that is given out at the join is on record.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, Agent, ClusterTest, wait_until  # noqa: E402


class JoinKnownKey(ClusterTest):
    hosts = ("h1",)

    def request(self, key=None, name="h1"):
        """A certificate request of a host's key, or of a new one."""
        made = [] if key else ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null"]
        given = ["-key", key] if key else []
        done = subprocess.run(["openssl", "req", "-new", *made, *given, "-subj", f"/CN={name}"], capture_output=True,
                              text=True, check=True)
        return done.stdout

    def join(self, token, pem, name="h1", **more):
        return self.cluster.http("POST", "/api/v1/join", {"token": token, "name": name, "request_pem": pem, **more},
                                 token=None)

    def invite(self, **body):
        answer = self.cluster.http("POST", "/api/v1/agents/invites", body)
        self.assertEqual(answer.status, 201, answer)
        return answer.json()["token"]

    def acts(self, act, host):
        return [entry for entry in self.cluster.get("/audit", act=act, limit=200)["entries"]
                if entry["object"] == f"host {host}"]

    def assertRefused(self, answer):
        self.assertEqual(answer.status, 403, answer)
        self.assertNotIn("cert_pem", answer.json())

    def test_token_that_was_revoked(self):
        """A leaked token, found in the list and taken back."""
        token = self.invite(uses=1000, names="leaked*")
        self.assertEqual(self.join(token, self.request(name="leaked1"), name="leaked1").status, 201)
        found = [i for i in self.cluster.get("/invites")["invites"] if i["names"] == "leaked*"]
        self.assertEqual([i["uses_left"] for i in found], [999])
        self.assertNotIn(token.split(".")[2], json.dumps(found), "the list gives no tokens away")
        outcome = self.cluster.muster("invites", "revoke", found[0]["id"][:12], "--reason", "leaked")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRefused(self.join(token, self.request(name="leaked2"), name="leaked2"))
        self.assertEqual(self.cluster.muster("invites", "revoke", found[0]["id"][:12]).code, 4)

    def test_known_key_without_a_good_token(self):
        pem = self.request(self.cluster.agents["h1"].data / "agent.key")
        fingerprint = self.invite().split(".")[1]
        used = self.invite()
        self.assertEqual(self.join(used, self.request(name="h8"), name="h8").status, 201)
        others = self.invite(names="db*")
        ended = self.invite(expires_ms=1)
        wait_until("the token has expired", lambda: self.join(ended, self.request(name="h9"), name="h9").status == 403)
        for token in (f"mj1.{fingerprint}.{'0' * 40}", used, others, ended):
            self.assertRefused(self.join(token, pem))

    def test_known_key_with_a_good_token_uses_it_up_and_is_on_record(self):
        pem = self.request(self.cluster.agents["h1"].data / "agent.key")
        token = self.invite()
        before = len(self.acts("agent.certificate", "h1"))
        self.assertEqual(self.join(token, pem).status, 201)
        self.assertEqual(len(self.acts("agent.certificate", "h1")), before + 1)
        self.assertRefused(self.join(token, self.request(name="h7"), name="h7"))

    def test_lost_answer_is_given_again_only_to_the_same_key_and_token(self):
        token, pem = self.invite(), self.request(name="h2")
        self.assertEqual(self.join(token, pem, name="h2").status, 201)
        self.assertEqual(self.join(token, pem, name="h2").status, 201, "its answer may have been lost")
        self.assertRefused(self.join(token, self.request(name="h3"), name="h3"))
        self.assertEqual(len(self.acts("agent.join", "h2")), 1)
        self.assertEqual(len(self.acts("agent.certificate", "h2")), 1)
        answers = [self.join(token, pem, name="h2").status for _ in range(20)]
        self.assertEqual(answers[-1], 403, "not without end")

    def test_token_is_good_for_nothing_once_its_host_connected(self):
        token = self.invite()
        agent = Agent(self.cluster, "h4", self.cluster.folder / "h4",
                      ["--server", self.cluster.url, "--name", "h4"], environment={"MUSTER_JOIN": token})
        self.cluster.daemons.append(agent)
        agent.start()
        self.cluster.wait_online("h4")
        self.assertRefused(self.join(token, self.request(agent.data / "agent.key", "h4"), name="h4"))

    def test_revoked_and_removed_keys_get_nothing(self):
        agent = self.cluster.add_agent("h5")
        self.cluster.wait_online("h5")
        pem = self.request(agent.data / "agent.key", "h5")
        self.assertCode(self.cluster.muster("agents", "revoke", "h5"), 0)
        agent.end()
        self.assertRefused(self.join(self.invite(), pem, name="h5"))
        self.assertCode(self.cluster.muster("hosts", "rm", "h5", "--yes"), 0)
        used = self.invite()
        self.assertEqual(self.join(used, self.request(name="h6"), name="h6").status, 201)
        self.assertRefused(self.join(used, pem, name="h5"))
        self.assertNotIn("h5", json.dumps(self.cluster.get("/hosts", limit=100)))

    def test_token_used_up_after_a_backup_is_void_after_its_restore(self):
        self.cluster = cluster = self.new_cluster()
        used, unused = self.invite(), self.invite()
        backup = cluster.folder / "backup"
        subprocess.run([BIN / "musterd", "backup", backup, "--data", cluster.data], capture_output=True, check=True)
        self.assertEqual(self.join(used, self.request(name="h8"), name="h8").status, 201)
        cluster.server.end()
        subprocess.run([BIN / "musterd", "restore", backup, "--data", cluster.data, "--force"], capture_output=True, check=True)
        cluster.start_server()
        for token in (used, unused):
            self.assertRefused(self.join(token, self.request(name="h9"), name="h9"))
        self.assertEqual(self.join(self.invite(), self.request(name="h9"), name="h9").status, 201)


if __name__ == "__main__":
    unittest.main()
