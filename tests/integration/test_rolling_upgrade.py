"""Three servers replaced by a later release one after the other, under work that never stops.

The later release is a program of its own (tests/support/next_release.cpp): the same code with another version, and one
step more in the story of the store's tables.
"""

import re
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from marked_runs import MarkedRuns  # noqa: E402
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402
from slot_chaos import SlotChaos  # noqa: E402

NEXT = BIN.parent / "tests/musterd_next"
OLD, NEW = "0.1.0", "0.2.0"
HOSTS = ("h1", "h2", "h3")
TRIGGERS, FLEET = 6, 10


class Ticks(SlotChaos):
    """Triggers that fire every second, on emulated hosts that keep a journal."""

    hosts = FLEET

    def start_fleet(self):
        self.journal = self.cluster.folder / "ticks.jsonl"
        token = self.cluster.invite(uses=FLEET, replace=True)
        urls = ",".join(member.url for member in self.cluster.members)
        self.cluster.add_daemon("ticks", [BIN / "muster-fleet", "--server", urls, "--count", FLEET, "--prefix", "tick",
                                          "--history", self.journal], {"MUSTER_JOIN": token})
        self.cluster.wait_online(*(f"tick{number}" for number in range(1, FLEET + 1)))


class UpgradeTest(ClusterTest):
    def setUp(self):
        self.cluster = ServerCluster(lease="10s")
        self.addCleanup(self.cluster.close)
        self._own.append(self.cluster)
        # Of the tables, as the old release knows them.
        self.base = wait_until("the schema was looked at", lambda: self.servers()["schema"]["version"])

    def servers(self):
        """Once there is an answer: while the leadership moves there may be none."""
        def answered():
            answer = self.cluster.http("GET", "/api/v1/servers")
            return answer.json() if answer.status == 200 else None
        return wait_until("the servers are told", answered)

    def server(self, member):
        return next(server for server in self.servers()["servers"] if server["name"] == member.name)

    def drain(self, *members):
        """Sends everybody away from these, and waits until they are."""
        self.cluster.front = next(member for member in self.cluster.members if member not in members)
        for member in members:
            self.assertCode(self.cluster.muster("servers", "drain", member.name, "--reason", "upgrade"), 0)
        for member in members:
            wait_until(f"nobody is at {member.name}", lambda member=member: not member.leads() and self._is_left(member))

    def _is_left(self, member):
        """As somebody sees it who wants to stop this server."""
        server = self.server(member)
        return server["state"] == "draining" and server["links"] == 0

    def undrain(self, *members):
        for member in members:
            self.assertCode(self.cluster.muster("servers", "undrain", member.name), 0)
        self.cluster.wait_ready(*members)
        for member in members:
            wait_until(f"all know of {member.name}", lambda member=member: self.server(member)["state"] != "draining")

    def install(self, member, program):
        """Replaces the program of a server that is drained or may be missed."""
        self.assertEqual(member.end(signal.SIGTERM), 0)
        member.words[0] = str(program)
        member.start()

    def upgrade(self, member):
        self.drain(member)
        self.renew(member)

    def renew(self, member):
        self.install(member, NEXT)
        self.cluster.wait_ready(member)
        wait_until(f"{member.name} is listed as the newer one", lambda: self.server(member)["version"] == NEW)


class RollingUpgrade(UpgradeTest):
    def test_upgrade_under_work_loses_nothing_and_doubles_nothing(self):
        self.begin_work()
        last, (first, second) = self.cluster.leader(), self.cluster.followers()

        self.upgrade(first)
        self.assertEqual(self.schema(), (self.base, []))
        self.assert_each_leads_beside_the_other(first, second, last)
        self.upgrade(second)
        self.assert_not_finalized_while_one_is_older()
        self.upgrade(last)
        self.assert_finalize_ends_it()

        self.end_work()

    def schema(self):
        schema = self.servers()["schema"]
        return schema["version"], schema["unfinished"]

    # The work

    def begin_work(self):
        urls = ",".join(member.url for member in self.cluster.members)
        self.journals = [self.cluster.folder / f"{name}.jsonl" for name in HOSTS]
        for name, journal in zip(HOSTS, self.journals):
            self.cluster.add_agent(name, server=urls, options=("--history", journal))
        self.cluster.wait_online(*HOSTS)
        self.ticks = Ticks(self.cluster, TRIGGERS, seed=1)
        self.ticks.begin()
        self.long = [GatedRun(self.cluster, name) for name in HOSTS]
        self.stream = MarkedRuns(self.cluster, HOSTS)
        self.stream.start()

    def end_work(self):
        """The tasks that ran through all of it end well; whatever was started in between did."""
        self.assertTrue(self.stream.is_alive())
        for run in self.long:
            self.assertEqual(self.cluster.task_of(run.id, run.host)["attempt"], 1)
            run.open_gate()
        for run in self.long:
            run.assert_ended_once(self)
        self.stream.stop()
        self.stream.assert_each_ended_once(self)
        _, started = self.ticks.check()
        self.assertGreater(started, 0)
        journals = [word for journal in (*self.journals, self.ticks.journal) for word in ("--journal", journal)]
        report = self.assertCode(self.cluster.muster("check", "history", "-o", "json", *journals, deadline=300), 0).json()
        self.assertEqual(report["journals"]["hosts"], len(HOSTS) + FLEET)
        self.assertGreaterEqual(report["terms"], 4)
        for name in HOSTS:
            self.assert_was_at_several(name)

    def assert_was_at_several(self, name):
        """Its server was restarted under it at least once; it went elsewhere and said so."""
        used = re.findall(r"welcomed .* server=(\S+)", self.cluster.agents[name].log.read_text())
        self.assertGreater(len(set(used)), 1, used)

    # What may happen in the middle

    def assert_each_leads_beside_the_other(self, newer, *older):
        """The newer one adds to the tables when it leads; the older ones go on with that, and lead again."""
        self.drain(*older)
        wait_until("the newer one leads", newer.leads)
        wait_until("it added its step", lambda: self.schema() == (self.base + 1, [self.base + 1]))
        self.undrain(*older)
        self.assert_not_finalized_while_one_is_older()
        self.drain(newer)
        wait_until("an older one leads", lambda: any(member.leads() for member in older))
        wait_until("runs go on", self._a_run_more())
        self.undrain(newer)

    def _a_run_more(self):
        so_far = len(self.stream.answered)
        return lambda: len(self.stream.answered) > so_far + 1

    def assert_not_finalized_while_one_is_older(self):
        older = [member.name for member in self.cluster.members if self.server(member)["version"] == OLD]
        self.assertEqual(self.servers()["schema"]["older_servers"], older)
        outcome = self.assertCode(self.cluster.muster("servers", "finalize"), 1)
        self.assertIn(f"{older[0]} still runs version {OLD}", outcome.complaint)
        self.assertFalse(self.cluster.get("/status")["finalize_due"])

    # The end

    def assert_finalize_ends_it(self):
        step = self.base + 1
        wait_until("it is due", lambda: self.servers()["schema"]["finalize_due"])
        self.assertIn("muster servers finalize", self.assertCode(self.cluster.muster("servers"), 0).complaint)
        self.assertIn("muster servers finalize", self.assertCode(self.cluster.muster("status"), 0).text)
        outcome = self.assertCode(self.cluster.muster("servers", "finalize", "--reason", "all are new"), 0)
        self.assertIn(f"the store is at schema {step}; finished step {step}", outcome.complaint)
        self.assertEqual(self.schema(), (step, []))
        self.assertNotIn("finalize", self.assertCode(self.cluster.muster("status"), 0).text)
        again = self.assertCode(self.cluster.muster("servers", "finalize"), 0)
        self.assertIn(f"the store is at schema {step}; nothing was left to do", again.complaint)
        entries = self.cluster.get("/audit", act="store.finalize")["entries"]
        self.assertEqual([(entry["object"], entry["reason"]) for entry in entries], [(f"schema {step}", "all are new")])
        drained = self.cluster.get("/audit", act="server.drain")["entries"]
        self.assertEqual({entry["reason"] for entry in drained}, {"upgrade"})


class OldServer(UpgradeTest):
    def test_server_that_was_forgotten_says_that_it_is_too_old_and_does_not_lead(self):
        """It was off while the others were upgraded."""
        forgotten = self.cluster.followers()[0]
        others = [member for member in self.cluster.members if member is not forgotten]
        self.cluster.front = others[0]
        self.assertEqual(forgotten.end(signal.SIGTERM), 0)
        for member in others:
            self.drain_but(forgotten, member)
            self.renew(member)
        self.cluster.front = others[0]
        wait_until("it is due", lambda: self.servers()["schema"]["finalize_due"])
        self.assertCode(self.cluster.muster("servers", "finalize"), 0)

        forgotten.start()
        wait_until("it says so to a load balancer", lambda: "too old for the store" in (forgotten.ready() or ""))
        wait_until("it is listed so", lambda: self.server(forgotten)["state"] == "unfit")
        self.assertIn(f"{forgotten.name}: too old for the store", self.assertCode(self.cluster.muster("servers"), 0).complaint)
        leader = self.cluster.leader()
        other = next(member for member in others if member is not leader)
        self.cluster.front = other
        leader.end(signal.SIGKILL)
        wait_until("the one that can leads", other.leads)
        self.assertFalse(forgotten.leads())

        self.install(forgotten, NEXT)
        self.cluster.wait_ready(forgotten)
        wait_until("it takes part", lambda: self.server(forgotten)["state"] == "follows")

    def drain_but(self, away, member):
        self.cluster.front = next(m for m in self.cluster.members if m not in (away, member))
        self.assertCode(self.cluster.muster("servers", "drain", member.name), 0)
        wait_until(f"{member.name} does not lead", lambda: not member.leads())


class LostInTheMiddle(UpgradeTest):
    # Holds up whoever changes that table.
    READER = "BEGIN; SELECT count(*) FROM meta; SELECT pg_sleep(3600)"

    def test_leader_that_dies_while_it_finalizes_leaves_it_due(self):
        for member in (*self.cluster.followers(), self.cluster.leader()):
            self.install(member, NEXT)
            self.cluster.wait_ready()
        leader = self.cluster.leader()
        self.cluster.front = self.cluster.followers()[0]
        wait_until("it is due", lambda: self.servers()["schema"]["finalize_due"])
        reader = self.cluster.add_daemon("reader", ["psql", self.cluster.postgres.address, "-c", self.READER])
        wait_until("the table is being read", lambda: self.sessions("state = 'active' AND query LIKE '%pg_sleep%'"))

        finalizes = self.cluster.begin("servers", "finalize")
        wait_until("it is on the audit trail", lambda: self.acts() == 1)
        leader.end(signal.SIGKILL)
        self.assertNotEqual(finalizes.finish().code, 0)
        self.sessions("query LIKE '%pg_sleep%'", "pg_terminate_backend(pid)")
        reader.end()

        self.assertIsNot(self.cluster.leader(), leader)
        wait_until("it is due as before", lambda: self.servers()["schema"]["finalize_due"])
        outcome = self.assertCode(self.cluster.muster("servers", "finalize"), 0)
        self.assertIn(f"finished step {self.base + 1}", outcome.complaint)
        self.assertEqual(self.acts(), 2)

    def sessions(self, which, what="pid"):
        return self.cluster.postgres.sql(f"SELECT {what} FROM pg_stat_activity WHERE {which} AND pid <> pg_backend_pid()")

    def acts(self):
        return len(self.cluster.postgres.sql("SELECT number FROM audit WHERE act = 'store.finalize'"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
