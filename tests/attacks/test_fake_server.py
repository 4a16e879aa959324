#!/usr/bin/env python3
"""Attacker: has a server's key and certificate, not the CA's key, and stands at the server's address.

He cannot prove a term, so he is not obeyed. He must not get there in two steps either: by telling hosts to trust another CA, or to
go to other servers, before they have welcomed him.
"""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from fake_leader import FakeLeader  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from protobuf import field  # noqa: E402

ELSEWHERE = "https://127.0.0.1:9"


def papers(ca):
    """ServerFrame{papers: this CA}."""
    return field(9, field(1, ca.read_bytes()) + field(2, "00"))


def beat():
    return field(4, field(1, 1) + field(2, 1) + field(3, ELSEWHERE))


def goodbye():
    return field(10, field(1, ELSEWHERE))


class FakeServerTest(ClusterTest):
    hosts = ("h1",)

    def make_ca(self):
        folder = self.cluster.folder / "evil"
        folder.mkdir()
        for words in (["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "ca.key"],
                      ["req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=evil", "-days", "1", "-out", "ca.pem"]):
            subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)
        return folder / "ca.pem"

    def test_host_takes_nothing_from_a_server_without_a_term(self):
        agent = self.cluster.agents["h1"]
        trusted = (agent.data / "ca.pem").read_bytes()
        self.cluster.server.end()
        # The goodbye makes the agent say that it has taken the frame.
        fake = FakeLeader(self.cluster.data / "server.pem", self.cluster.data / "server.key",
                          frame=papers(self.make_ca()) + beat() + goodbye(), port=self.cluster.port)
        try:
            wait_until("the agent has heard it", lambda: "it sends its hosts elsewhere" in agent.log.read_text())
        finally:
            fake.close()
        self.assertEqual((agent.data / "ca.pem").read_bytes(), trusted)
        self.assertFalse((agent.data / "servers").exists() and ELSEWHERE in (agent.data / "servers").read_text())
        self.cluster.start_server()
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        self.assertEqual((agent.data / "ca.pem").read_bytes(), trusted)


if __name__ == "__main__":
    unittest.main()
