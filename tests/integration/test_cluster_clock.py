"""A cluster one of whose servers has a wrong clock: it does not lead, and a leader whose clock is set stops before it starts
what is not due."""

import datetime
import re
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from moved_clock import MovedClock  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402
from slot_chaos import SlotChaos  # noqa: E402

HOUR = 3600
LATER = """apiVersion: muster/v1
kind: trigger
name: later
cron: '{minute} * * * *'
job: tick
"""


class ClockedCluster(ServerCluster):
    """Each server lives by a clock of its own. The second one's is an hour ahead from its first start."""

    def _make_parts(self):
        super()._make_parts()
        self.clocks = {member: MovedClock() for member in self.members}
        self.wrong = set()
        for member, clock in self.clocks.items():
            member.environment |= clock.environment
        self.set_clock(self.members[1], HOUR)

    def set_clock(self, member, ahead):
        self.clocks[member].move(ahead)
        (self.wrong.add if ahead else self.wrong.discard)(member)

    def wait_ready(self, *members):
        """None with a wrong clock is."""
        super().wait_ready(*(members or (member for member in self.members if member not in self.wrong)))

    def close(self):
        super().close()
        for clock in self.clocks.values():
            clock.close()


class WrongClock(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClockedCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.ticks = SlotChaos(cls.cluster, triggers=3, seed=1)
        cls.ticks.idle = 1
        cls.ticks.begin()
        # Due in half an hour: a clock that is an hour ahead is past it.
        minute = (datetime.datetime.now(datetime.timezone.utc).minute + 30) % 60
        answer = cls.cluster.http("POST", "/api/v1/documents",
                                  {"documents": [{"file": "later.yaml", "text": LATER.format(minute=minute)}]})
        assert answer.status == 200, answer

    @classmethod
    def tearDownClass(cls):
        cls.cluster.front = cls.cluster.leader()
        due, started = cls.ticks.check()
        assert 0 < started <= due, (due, started)

    def trouble_of(self, member):
        servers = self.cluster.get("/servers")["servers"]
        return next(server["trouble"] for server in servers if server["name"] == member.name)

    def ahead(self, member):
        text = self.cluster.at(member).http("GET", "/metrics", token=None).body.decode()
        found = re.search(r"^muster_clock_ahead_seconds (\S+)", text, re.MULTILINE)
        return float(found[1]) if found else None

    def wait_noticed(self, member, word):
        """The server itself, a load balancer, and whoever asks for the servers know of it."""
        self.cluster.front = self.cluster.leader()
        says = rf"this machine's clock is \S+ {word} the store's"
        wait_until("the others know", lambda: re.search(says, self.trouble_of(member)))
        wait_until("a load balancer is told", lambda: re.search(says, member.ready() or ""))
        outcome = self.assertCode(self.cluster.muster("servers"), 0)
        self.assertRegex(outcome.complaint, f"(?m)^{member.name}: {says}")
        self.assertAlmostEqual(self.ahead(member), HOUR if word == "ahead of" else -HOUR, delta=60)

    def wait_all_well(self):
        self.cluster.wait_ready()
        wait_until("no trouble is left", lambda: not any(map(self.trouble_of, self.cluster.members)))

    def assert_nothing_early(self):
        self.assertEqual([row for row in self.cluster.get("/triggers/later/slots")["slots"] if row["result"] != "schedule"], [])
        wait_until("each slot is on record once", lambda: self.cluster.muster("check", "slots", "--since", "12h").code == 0)

    # In this order: the first one is about how the cluster was started.

    def test_1_server_that_starts_with_a_wrong_clock_never_leads(self):
        wrong = self.cluster.members[1]
        self.wait_noticed(wrong, "ahead of")
        old = self.cluster.leader()
        old.end(signal.SIGKILL)
        new = wait_until("another one leads", lambda: next((m for m in self.cluster.members if m is not old and m.leads()), None))
        self.assertIsNot(new, wrong)
        self.cluster.front = new
        old.start()
        self.cluster.wait_ready(old)
        self.cluster.set_clock(wrong, -HOUR)
        self.wait_noticed(wrong, "behind")
        self.assertFalse(wrong.leads())
        self.assert_nothing_early()
        self.cluster.set_clock(wrong, 0)
        self.wait_all_well()

    def test_2_leader_whose_clock_is_set_stops(self):
        for jump, word in ((HOUR, "ahead of"), (-HOUR, "behind")):
            with self.subTest(jump=jump):
                self.cluster.wait_ready()
                old = self.cluster.leader()
                self.cluster.set_clock(old, jump)
                self.cluster.front = wait_until(
                    "another one leads", lambda old=old: next((m for m in self.cluster.members if m is not old and m.leads()), None))
                self.assertFalse(old.leads())
                self.wait_noticed(old, word)
                self.assert_nothing_early()
                self.cluster.set_clock(old, 0)
                self.wait_all_well()


if __name__ == "__main__":
    unittest.main()
