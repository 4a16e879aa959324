#!/usr/bin/env python3
"""Attacker: root on one host, also one that was revoked. He sends frames that take the server long to decode, and connects again.

All links share the server's one network thread. A Hello with 400,000 facts took it 0.7 s, and a frame of 500,000 empty pieces of
output 0.2 s, as often as the host liked: before the host was judged, and without a charge for what is in a frame. Calls and orders
of others must go on, hostile links be closed, and a revoked host be refused before it sends anything.
"""

import ssl
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileAgent, HostileTest  # noqa: E402
from muster_cluster import wait_until  # noqa: E402
from process_cost import assert_cost, processor_seconds  # noqa: E402
from protobuf import field, fields  # noqa: E402

MOST = (4 << 20) - 200  # bytes of a frame
LINKS = 4
SECONDS = 6
AT_ONCE = 5  # seconds; a link that falls silent is closed after 9
MOST_FOR_A_FRAME = 0.1  # seconds of the server's processor time
# The share of a processor that the attack may take, with TLS handshakes and the reading of frames.
MOST_OF_A_PROCESSOR = 0.6
FACTS = field(2, field(4, "s") + b"".join(field(3, field(1, b"%05x" % (i * 7919 % (1 << 20)))) for i in range(MOST // 10)))
FEATURES = field(2, field(2, b"") * (MOST // 2))
OUTPUTS = field(5, field(1, field(4, 2)) + field(2, 3) + field(3, field(1, 4) + field(10, b"") * (MOST // 2 - 50)))
UNKNOWN = field(100, 1) * (MOST // 3)


class HeavyFrames(HostileTest):
    def cost(self, payload):
        """What one frame of it takes of the server's time, of a link that is closed for it."""
        process = self.cluster.server.process.pid
        before = processor_seconds(process)
        with HostileAgent(self.bad) as agent:
            agent.frame(payload)
            self.assertTrue(agent.closed())
        return processor_seconds(process) - before

    def test_many_facts(self):
        assert_cost(self, self.cost(FACTS), MOST_FOR_A_FRAME)

    def test_many_features_outputs_and_unknown_fields(self):
        for payload in (FEATURES, OUTPUTS, UNKNOWN):
            assert_cost(self, self.cost(payload), MOST_FOR_A_FRAME)

    def test_empty_pieces(self):
        with HostileAgent(self.bad) as agent:
            piece = field(4, field(1, field(4, agent.hello())) + field(3, 1))
            sent = time.monotonic()
            agent.frame(piece * (MOST // len(piece)))
            self.assertTrue(agent.closed())
            self.assertLess(time.monotonic() - sent, AT_ONCE)


class ManyPieces(HostileTest):
    """In a class of its own: when links of one key are closed again and again, the server does not log each."""

    def test_of_a_task_that_there_is_not(self):
        """As many as a frame may have: the link is closed when the allowance is used up."""
        with HostileAgent(self.bad) as agent:
            piece = field(4, field(1, field(4, agent.hello())) + field(3, 1) + field(5, "x"))
            try:
                for _ in range(400):
                    agent.frame(piece * 20_000)
            except (ConnectionError, ssl.SSLError):
                pass  # the server has closed the link
            refused = time.monotonic()
            self.assertTrue(agent.closed())
            self.assertLess(time.monotonic() - refused, AT_ONCE)
        wait_until("the server says why", lambda: "the node sends more than can be acted on" in self.cluster.server.log.read_text())
        self.assertCode(self.cluster.muster("run", "-t", "good", "--", "true"), 0)


class LinksThatComeBack(HostileTest):
    def flood(self):
        while not self.over.is_set():
            try:
                with HostileAgent(self.bad) as agent:
                    agent.frame(FACTS)
                    agent.closed()
            except (AssertionError, OSError):
                pass  # the server has closed the link
            time.sleep(0.02)  # a TLS handshake costs the server something too, and needs no certificate

    def test_others_are_served(self):
        self.over = threading.Event()
        threads = [threading.Thread(target=self.flood) for _ in range(LINKS)]
        for thread in threads:
            thread.start()
        process = self.cluster.server.process.pid
        try:
            time.sleep(2)
            begun, used = time.monotonic(), processor_seconds(process)
            while time.monotonic() < begun + SECONDS:
                self.assertCode(self.cluster.muster("run", "-t", "good", "--", "true"), 0)
                self.assertEqual(self.cluster.http("GET", "/api/v1/hosts").status, 200)
                time.sleep(0.2)
            share = (processor_seconds(process) - used) / (time.monotonic() - begun)
            assert_cost(self, share, MOST_OF_A_PROCESSOR)
        finally:
            self.over.set()
            for thread in threads:
                thread.join()


class RevokedHost(HostileTest):
    def test_is_refused_before_it_sends_anything(self):
        self.assertCode(self.cluster.muster("agents", "revoke", "bad", "--yes", "--reason", "taken over"), 0)
        for _ in range(3):
            with HostileAgent(self.bad) as agent:
                refused = dict(fields(agent.await_field(3, lambda refusal: refusal)))
                self.assertEqual(refused[1], b"revoked")
                self.assertTrue(agent.closed())
        self.assertCode(self.cluster.muster("run", "-t", "good", "--", "true"), 0)


if __name__ == "__main__":
    unittest.main()
