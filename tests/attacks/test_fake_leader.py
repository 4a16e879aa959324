"""Attacker: write access to etcd. It names itself the leader of the cluster.

It must not get a credential, a link of a server, an order to a host, nor leave a term behind.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from costly_keys import certificate_of, own_curve_key  # noqa: E402
from fake_leader import FakeLeader, leader_welcome, make_certificate, put, remove, sign_ticket  # noqa: E402
from muster_cluster import wait_until  # noqa: E402
from process_cost import assert_cost, processor_seconds  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

COSTLY = 12  # certificates; decoding each takes OpenSSL a quarter of a second
MOST_SECONDS = 4

EVIL, LEADER = "/muster/members/evil", "/muster/leader"
TERM = 1_000_000


class FakeLeaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ServerCluster(servers=1, etcds=1)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.add_agents("h1")
        cls.agent = cls.cluster.agents["h1"]

    def usurp(self, fake):
        """Puts the fake into etcd, as a member and as the leader."""
        self.addCleanup(fake.close)
        self.addCleanup(self.recover)
        put(self.cluster.etcd, EVIL, {"name": "evil", "url": fake.url, "version": "0.1.0", "labels": {}, "links": 0})
        put(self.cluster.etcd, LEADER, {"name": "evil", "claim": "1"})
        wait_until("the server has looked for the new leader", lambda: fake.heard or fake.refused or self.no_way())

    def call(self):
        """The status of an admin's call to the real server; None when no answer comes."""
        try:
            return self.cluster.http("GET", "/api/v1/hosts", timeout=5).status
        except OSError:
            return None

    def online(self):
        """How many hosts the leader has; None when no leader answers."""
        try:
            answer = self.cluster.http("GET", "/api/v1/status", timeout=5)
        except OSError:
            return None
        return answer.json()["online"] if answer.status == 200 else None

    def no_way(self):
        return "evil" in (reason := self.cluster.server.ready() or "") and "cannot be reached" in reason

    def recover(self):
        remove(self.cluster.etcd, LEADER)
        remove(self.cluster.etcd, EVIL)
        # A server that follows is ready too, so its leader is asked: only the real one answers.
        wait_until("the real server leads again, and the agent is back", lambda: self.online() == 1)
        outcome = self.cluster.muster("run", "-t", "h1", "--", "true")
        self.assertEqual(outcome.code, 0, outcome)

    def expect_nothing(self, fake):
        self.usurp(fake)
        status = self.call()
        self.assertEqual(fake.said(), b"")
        self.assertEqual(status, 503)

    def member_certificate(self):
        return make_certificate(self.cluster.folder / "member", self.cluster.data, "IP:127.0.0.1,URI:muster-server:evil",
                                "serverAuth")

    def test_plain_text_leader_hears_nothing(self):
        self.expect_nothing(FakeLeader())

    def test_host_certificate_makes_no_server(self):
        """Root on one host has a certificate of the cluster's CA."""
        self.expect_nothing(FakeLeader(self.agent.data / "agent.crt", self.agent.data / "agent.key"))

    def test_certificate_for_a_name_makes_no_server(self):
        """One for the right address, of the right CA, that does not name a server of the cluster."""
        self.expect_nothing(FakeLeader(*make_certificate(self.cluster.folder / "named", self.cluster.data, "IP:127.0.0.1",
                                                         "serverAuth")))

    def test_term_without_proof_is_not_believed(self):
        """A server of the cluster that does not lead is not followed, and gets no calls, whatever etcd says."""
        fake = FakeLeader(*self.member_certificate(), frame=leader_welcome(TERM))
        self.usurp(fake)
        wait_until("it has welcomed the server", fake.said)
        wait_until("the server says why it does not follow", self.no_way)
        self.assertEqual(self.call(), 503)
        self.assertNotIn(b"GET /api/v1/hosts", fake.said())
        self.assertNotIn(str(TERM), self.agent.log.read_text())

    def test_ticket_of_another_cluster_is_not_believed(self):
        """One CA may have signed for two clusters: a copy of this one, say, for a test."""
        status = self.cluster.get("/status")
        ticket = sign_ticket(self.cluster.data, "0" * 32, status["term"], "evil")
        fake = FakeLeader(*self.member_certificate(), frame=leader_welcome(status["term"], ticket))
        self.usurp(fake)
        wait_until("it has welcomed the server", fake.said)
        wait_until("the server says why it does not follow", self.no_way)
        self.assertIn("0" * 32, self.cluster.server.ready())
        self.assertEqual(self.call(), 503)
        self.assertNotIn(b"GET /api/v1/hosts", fake.said())

    def test_costly_certificates_cost_nothing(self):
        """They are looked at before the server can be told from a real one, on the thread that serves everybody."""
        chain, key = self.member_certificate()
        costly = self.cluster.folder / "costly.pem"
        costly.write_text(Path(chain).read_text() + certificate_of(own_curve_key()) * COSTLY)
        fake = FakeLeader(costly, key)
        pid = self.cluster.server.process.pid
        before = processor_seconds(pid)
        self.usurp(fake)
        wait_until("the server has come a few times", lambda: fake.refused >= 4)
        assert_cost(self, processor_seconds(pid) - before, MOST_SECONDS)

    def test_leader_sees_no_credential(self):
        """Even a leader with every proof learns of a caller who it is, not the token."""
        status = self.cluster.get("/status")
        ticket = sign_ticket(self.cluster.data, status["cluster"], status["term"], "evil")
        fake = FakeLeader(*self.member_certificate(), frame=leader_welcome(status["term"], ticket))
        self.usurp(fake)
        wait_until("the server follows", lambda: self.cluster.server.ready() is None)
        self.assertNotEqual(self.call(), 200)
        self.assertIn(b"GET /api/v1/hosts", fake.said())
        self.assertNotIn(self.cluster.token.encode(), fake.said())
        self.assertNotIn(b"authorization", fake.said().lower())


if __name__ == "__main__":
    unittest.main()
