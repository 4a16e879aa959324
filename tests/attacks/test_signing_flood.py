"""Root on one host (a compromised agent) asks for certificates without end over its link.

It must not get more than one a minute, nor keep the server busy with signing while others wait.
"""

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileAgent, HostileTest  # noqa: E402
from muster_cluster import wait_until  # noqa: E402
from protobuf import field  # noqa: E402

FLOOD = 10_000


class SigningFlood(HostileTest):
    def signed(self):
        log = self.cluster.server.log.read_text()
        return log.count("certificate renewed host=bad")

    def test_ten_thousand_requests_over_one_link(self):
        key = self.bad.data / "agent.key"
        request = subprocess.run(["openssl", "req", "-new", "-key", key, "-subj", "/CN=bad"], check=True,
                                 capture_output=True).stdout
        with HostileAgent(self.bad) as agent:
            agent.hello()
            self.cluster.wait_online("bad")
            agent.frame(field(6, request))
            agent.await_field(9, lambda papers: True)
            for _ in range(FLOOD):
                agent.frame(field(6, request))
            # Answered after all of them were looked at.
            agent.frame(field(3, field(1, 4711)))
            agent.await_field(4, lambda answer: True)
            self.assertCode(self.cluster.muster("run", "-t", "good", "--", "true"), 0)
            self.assertIn(self.signed(), (1, 2))
        # A link of its own for each request gets it no more.
        for _ in range(5):
            with HostileAgent(self.bad) as agent:
                agent.hello()
                agent.frame(field(6, request))
                agent.frame(field(3, field(1, 4711)))
                agent.await_field(4, lambda answer: True)
        wait_until("the links are closed", lambda: "bad" not in self.cluster.online())
        self.assertIn(self.signed(), (1, 2))


if __name__ == "__main__":
    unittest.main()
