"""A cluster in a network that breaks: somebody is cut off from something, or a line is slow. Every run ends as if nothing
had been, each script runs once, and every slot of a trigger is on record once."""

import hashlib
import os
import re
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from marked_runs import MarkedRuns  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from net_cluster import ETCDS, NetCluster  # noqa: E402
from slot_chaos import SlotChaos  # noqa: E402

CUT_SECONDS = float(os.environ.get("MUSTER_CUT_SECONDS", "10"))
LINE = os.environ.get("MUSTER_SLOW_LINE", "1mbit")
OUTPUT = 2_000_000
# A request to one member may take a sixth of the lease: 333 ms.
ETCD_DELAY = int(os.environ.get("MUSTER_ETCD_DELAY", "150"))
FLEET = 50


class Ticks(SlotChaos):
    hosts = FLEET

    def start_fleet(self):
        self.cluster.start_fleet(FLEET, "tick")


class Network(ClusterTest):
    """One cluster for all tests, with triggers that fire every second through everything. Each test has agents of its
    own, one at each server."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = NetCluster(("a1", "a2", "a3"), {"heartbeat": "200ms", "reconnect_bound": "5s"})
        cls.addClassCleanup(cls.cluster.close)
        cls.lab = cls.cluster.lab
        cls.ticks = Ticks(cls.cluster, triggers=3, seed=1)
        cls.ticks.begin()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.front = cls.cluster.leader()
        due, started = cls.ticks.check()
        assert 0 < started <= due, (due, started)

    def setUp(self):
        self.addCleanup(self.lab.heal)
        self.cluster.wait_ready()
        self.leader = self.cluster.leader()
        self.followers = [member for member in self.cluster.members if member is not self.leader]
        self.cluster.front = self.followers[0]
        self.agents = {}  # name by server
        word = self.id().rpartition("test_")[2][:32].rstrip("_").replace("_", "-")
        for number, member in enumerate(self.cluster.members, 1):
            self.agents[member] = f"{word}-{member.name}"
            agent = self.cluster.agent_at(self.agents[member], member, f"a{number}")
            self.addCleanup(agent.end)
        self.cluster.wait_online(*self.agents.values())

    def gated(self, *members):
        return [GatedRun(self.cluster, self.agents[member]) for member in members]

    def stream(self):
        stream = MarkedRuns(self.cluster, list(self.agents.values()))
        self.addCleanup(stream.stop)
        stream.start()
        wait_until("runs are started", lambda: len(stream.answered) >= 2)
        return stream

    def agent_of(self, member):
        return self.cluster.agents[self.agents[member]]

    def wait_moved(self, name, member):
        """Until an agent that began at this server is welcome at another."""
        log = self.cluster.agents[name].log
        def moved():
            servers = [line.rpartition("server=")[2].split()[0] for line in log.read_text().splitlines()
                       if "welcomed" in line and "server=" in line]
            return servers and servers[-1] != member.url
        wait_until(f"{name} has left {member.name}", moved)

    def assert_promises(self, gated=(), stream=None):
        """After the network is whole: all is ready, every run ended once, every slot is on record once."""
        self.lab.heal()
        self.cluster.wait_ready()
        wait_until("all know each other", lambda: sorted(self.cluster.states().values()) == ["follows", "follows", "leads"])
        for run in gated:
            run.assert_ended_once(self)
        if stream:
            stream.stop()
            stream.assert_each_ended_once(self)
        wait_until("each slot is on record once", lambda: self.cluster.muster("check", "slots", "--since", "12h").code == 0)
        self.assertCode(self.cluster.check_history(), 0)

    def assert_health_at_once(self, member):
        """It answers from memory, however long the store and the others are silent."""
        for path, status in (("/healthz", 200), ("/metrics", 200), ("/readyz", 503)):
            self.assertEqual(member.asked_inside("GET", path, token=None, timeout=1.5).status, status)

    # The leader is cut off

    def test_leader_from_etcd_only(self):
        runs, stream = self.gated(*self.cluster.members), self.stream()
        began = time.monotonic()
        self.lab.cut(self.leader.name, *ETCDS)
        new = self.cluster.next_leader(self.leader)
        self.assertFalse(self.leader.leads())
        self.assertEqual(self.leader.asked_inside("POST", "/api/v1/tokens", {"name": "never", "role": "viewer"}).status, 503)
        self.wait_moved(self.agents[self.leader], self.leader)
        runs[0].open_gate()
        runs[0].assert_ended_once(self)  # while it is cut off
        time.sleep(max(0, began + CUT_SECONDS - time.monotonic()))  # no condition to wait for: the length is the test
        self.assertTrue(new.leads())
        self.assertFalse(self.leader.leads())
        runs[1].open_gate()
        self.lab.heal()
        runs[2].open_gate()
        self.assert_promises(runs[1:], stream)
        self.assertEqual(self.cluster.states()[self.leader.name], "follows")

    def test_leader_from_postgres_only(self):
        runs, stream = self.gated(*self.cluster.members), self.stream()
        self.lab.cut(self.leader.name, "pg")
        runs[0].open_gate()
        self.cluster.next_leader(self.leader)
        wait_until("the old one made room", lambda: not self.leader.leads())
        self.assertIn("makes room for another leader", self.leader.log.read_text())
        wait_until("it says why it does not compete", lambda: re.search("store|postgres", self.leader.ready() or ""))
        self.assert_health_at_once(self.leader)
        for run in runs[1:]:
            run.open_gate()
        self.assert_promises(runs, stream)
        self.assertEqual(self.cluster.states()[self.leader.name], "follows")

    def test_leader_from_its_followers_only(self):
        self.cluster.front = self.leader
        runs = self.gated(*self.cluster.members)
        self.lab.cut(self.leader.name, *(member.name for member in self.followers))
        for follower in self.followers:
            answer = wait_until("calls are told", lambda follower=follower: self.refused(follower))
            self.assertIn("leader", answer.json()["error"]["message"])
        for follower in self.followers:
            self.wait_moved(self.agents[follower], follower)
        runs += self.gated(*self.cluster.members)
        for run in runs:
            run.open_gate()
        for run in runs:
            run.assert_ended_once(self)  # while they are apart: all agents found the leader
        self.assertTrue(self.leader.leads())
        self.assert_promises()
        self.assertTrue(self.leader.leads())

    def refused(self, member):
        answer = self.cluster.at(member).http("POST", "/api/v1/tokens", {"name": "never", "role": "viewer"})
        self.assertIn(answer.status, (503, 504), answer)
        return answer if answer.status == 503 else None  # before it noticed, the call was on its way: 504

    def test_leader_from_everything(self):
        runs, stream = self.gated(*self.cluster.members), self.stream()
        self.lab.cut(self.leader.name)
        self.cluster.next_leader(self.leader)
        self.assertFalse(self.leader.leads())
        for run in runs:
            run.open_gate()
        self.wait_moved(self.agents[self.leader], self.leader)
        for run in runs:
            run.assert_ended_once(self)  # while it is away
        self.assert_promises(stream=stream)
        self.assertEqual(self.cluster.states()[self.leader.name], "follows")

    # Others are

    def test_follower_from_everything(self):
        lost, self.cluster.front = self.followers
        runs, stream = self.gated(*self.cluster.members), self.stream()
        self.lab.cut(lost.name)
        for run in runs:
            run.open_gate()
        self.wait_moved(self.agents[lost], lost)
        self.assert_health_at_once(lost)
        with self.subTest("it knows that it is cut off, and refuses calls at once"):
            for method, path, body in (("GET", "/api/v1/runs", None), ("GET", "/api/v1/runs/r1/log?host=h1", None),
                                       ("POST", "/api/v1/tokens", {"name": "never", "role": "viewer"})):
                self.assertEqual(lost.asked_inside(method, path, body, token="nobody", timeout=1.5).status, 503, path)
        for run in runs:
            run.assert_ended_once(self)  # while it is away
        self.assertTrue(self.leader.leads())
        self.assert_promises(stream=stream)

    def test_follower_from_the_servers_but_not_from_its_agents(self):
        lost, self.cluster.front = self.followers
        runs, stream = self.gated(*self.cluster.members), self.stream()
        self.lab.cut(lost.name, self.leader.name, self.cluster.front.name, *ETCDS)
        self.wait_moved(self.agents[lost], lost)
        self.assertIn("cut off", lost.ready())
        runs += self.gated(lost)  # its agents take new work, too
        for run in runs:
            run.open_gate()
        for run in runs:
            run.assert_ended_once(self)  # while it is away
        self.assertTrue(self.leader.leads())
        self.assertIn("cut off", lost.ready())
        self.assert_promises(stream=stream)

    def test_follower_from_postgres_only(self):
        lost, self.cluster.front = self.followers
        runs, stream = self.gated(*self.cluster.members), self.stream()
        self.lab.cut(lost.name, "pg")
        wait_until("it sends its agents away", lambda: "cut off" in (lost.ready() or ""))
        self.wait_moved(self.agents[lost], lost)
        for run in runs:
            run.open_gate()
        for run in runs:
            run.assert_ended_once(self)  # while it is away
        self.assertTrue(self.leader.leads())
        self.assert_promises(stream=stream)

    def test_all_servers_from_etcd(self):
        """None is better than another: agents look around, stay somewhere, and are all there once somebody leads."""
        runs, stream = self.gated(*self.cluster.members), self.stream()
        for member in self.cluster.members:
            self.lab.cut(member.name, *ETCDS)
        for member in self.cluster.members:
            wait_until(f"{member.name} sends its agents away", lambda member=member: "cut off" in (member.ready() or ""))
        for run in runs:
            run.open_gate()
        wait_until("every agent has a link all the same", lambda: self.links() == FLEET + len(self.agents))
        self.assert_promises(runs, stream)

    def links(self):
        """Open at all servers."""
        metrics = [self.cluster.at(member).http("GET", "/metrics", token=None).body.decode() for member in self.cluster.members]
        return sum(float(re.search(r"^muster_links (\S+)", text, re.MULTILINE)[1]) for text in metrics)

    def test_agent_while_its_task_ends(self):
        member = self.followers[1]
        runs = self.gated(member)
        self.lab.cut(self.agent_of(member).host.name)
        self.cluster.wait_offline(self.agents[member])
        runs[0].open_gate()
        self.assertEqual(self.cluster.run_of(runs[0].id)["state"], "running")
        self.lab.heal()
        self.assert_promises(runs)

    # Lines are slow

    def test_slow_line_of_one_agent_does_not_slow_the_others(self):
        slow, *others = self.agents.values()
        self.lab.limit(self.cluster.agents[slow].host.name, LINE)
        source = self.cluster.folder / "noise"
        source.write_bytes(os.urandom(OUTPUT))
        run = self.cluster.start_run("-t", slow, "--", f"cat {source}")
        for _ in range(10):
            self.assertCode(self.cluster.muster("run", "-t", ",".join(others), "--", "echo here"), 0)
        now = self.cluster.run_of(run)
        self.assertTrue(now["state"] == "running" or now["logs_open"], now)  # all of that, before it was through
        self.assertEqual(self.cluster.wait_end(run, 240)["counts"], {"succeeded": 1})
        said = self.cluster.log_of(run, slow)
        self.assertEqual(hashlib.sha256(said).digest(), hashlib.sha256(source.read_bytes()).digest())
        self.assert_promises()

    def test_slow_line_to_etcd_keeps_the_leadership(self):
        term = self.cluster.get("/status")["term"]
        self.lab.delay(self.leader.name, *ETCDS, milliseconds=ETCD_DELAY)
        runs, stream = self.gated(*self.cluster.members), self.stream()
        time.sleep(CUT_SECONDS)  # no condition to wait for: that nothing happens is the test
        for run in runs:
            run.open_gate()
        self.assertTrue(self.leader.leads())
        self.assertEqual(self.cluster.get("/status")["term"], term)
        self.assert_promises(runs, stream)


if __name__ == "__main__":
    unittest.main()
