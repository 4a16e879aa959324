"""Several servers on one PostgreSQL and one etcd: every one of them serves, one leads, and what happens when that one
is killed, frozen, drained or cut off from what it stands on."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402


class ServersTest(ClusterTest):
    """Three servers that the tests of a class share; each test begins with all of them up and ready."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = ServerCluster()
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        for member in self.cluster.members:
            if not member.running():
                member.start()
        self.cluster.wait_ready()
        self.cluster.front = self.cluster.members[0]
        # An agent that begins now is to know all of them.
        wait_until("all take part", lambda: sorted(self.states().values()) == ["follows", "follows", "leads"])

    def agent_at(self, name, member):
        """A new agent that begins at this server."""
        agent = self.cluster.add_agent(name, server=member.url)
        self.cluster.wait_online(name)
        return agent

    @staticmethod
    def servers_known_to(agent):
        """As the agent said last."""
        lines = [line for line in agent.log.read_text().splitlines() if "the cluster's servers are" in line]
        return lines[-1] if lines else ""

    def states(self):
        return {server["name"]: server["state"] for server in self.cluster.get("/servers")["servers"]}


class Together(ServersTest):
    def test_every_server_answers_the_same(self):
        self.agent_at("same", self.cluster.followers()[0])
        run = self.assertCode(self.cluster.muster("run", "-t", "same", "-o", "json", "--", "echo one; echo two >&2"), 0)
        run = run.json()["id"]
        for member in self.cluster.members:
            here = self.cluster.at(member)
            self.assertEqual(here.run_of(run)["state"], "succeeded")
            self.assertEqual(here.log_of(run, "same"), b"one\ntwo\n")
            self.assertEqual(self.assertCode(here.muster("hosts"), 0).text.split()[0], "NAME")

    def test_each_server_runs_work_through_the_others_links(self):
        for number, member in enumerate(self.cluster.members):
            self.agent_at(f"spread{number}", member)
        for member in self.cluster.members:
            outcome = self.cluster.at(member).muster("run", "-t", "spread*", "--", "echo $MUSTER_HOST")
            self.assertCode(outcome, 0)
            said = sorted(line.split("|")[1].strip() for line in outcome.text.splitlines())
            self.assertEqual(said, ["spread0", "spread1", "spread2"])

    def test_agents_hear_of_a_server_that_comes_while_they_are_linked(self):
        late = self.cluster.followers()[-1]  # never the first of all, which the test itself asks
        late.end(signal.SIGTERM)
        wait_until("it is gone", lambda: self.states()[late.name] == "gone")
        agent = self.agent_at("hears", self.cluster.leader())
        wait_until("it knows the others", lambda: self.servers_known_to(agent))
        self.assertNotIn(late.url, self.servers_known_to(agent))
        late.start()
        wait_until("it knows this one, too", lambda: late.url in self.servers_known_to(agent))
        self.assertEqual(agent.log.read_text().count(" welcomed "), 1)

    def test_output_is_seen_live_through_a_server_that_holds_neither_link_nor_lead(self):
        holder, watcher = self.cluster.followers()
        self.agent_at("live", holder)
        gate = self.cluster.folder / "live-gate"
        os.mkfifo(gate)
        follows = self.cluster.at(watcher).begin("run", "-t", "live", "--", f"echo before; cat {gate}")
        wait_until("the line is there while the script runs", lambda: "before" in follows.said()[0])
        gate.write_text("after\n")
        outcome = follows.finish()
        self.assertEqual((outcome.code, outcome.text), (0, "before\nafter\n"), outcome)

    def test_a_token_is_good_at_every_server_until_it_is_revoked(self):
        def make(name, role):
            made = self.cluster.http("POST", "/api/v1/tokens", {"name": name, "role": role})
            self.assertEqual(made.status, 201, made)
            return made.json()["token"]

        def asked(path, token):
            return [self.cluster.at(member).http("GET", path, token=token).status for member in self.cluster.members]

        reader, keeper = make("reader", "viewer"), make("keeper", "admin")

        # On record, so each server answers by itself; and what only the leader knows, or may see.
        self.assertEqual(asked("/api/v1/documents?kind=job", reader), [200, 200, 200])
        self.assertEqual(asked("/api/v1/runs", reader), [200, 200, 200])
        self.assertEqual(asked("/api/v1/secrets", reader), [403, 403, 403])
        # What each tells of itself, whether it led before or never did.
        self.assertEqual(asked("/api/v1/debug/loops", keeper), [200, 200, 200])
        self.assertEqual(asked("/api/v1/debug/loops", reader), [403, 403, 403])
        led = self.cluster.leader().name
        self.assertCode(self.cluster.muster("servers", "drain", led), 0)
        for name in ("reader", "keeper"):
            self.assertCode(self.cluster.muster("tokens", "revoke", name), 0)
        self.assertEqual(asked("/api/v1/documents?kind=job", reader), [401, 401, 401])
        self.assertEqual(asked("/api/v1/runs", reader), [401, 401, 401])
        self.assertEqual(asked("/api/v1/debug/loops", keeper), [401, 401, 401])
        self.assertCode(self.cluster.muster("servers", "undrain", led), 0)

    def test_what_a_caller_says_of_itself_is_not_believed(self):
        for member in self.cluster.members:
            answer = self.cluster.at(member).http("POST", "/api/v1/tokens", {"name": f"t-{member.name}", "role": "viewer"},
                                                  {"Muster-For": "10.9.9.9:1", "Muster-For-Key": "feed"})
            self.assertEqual(answer.status, 201, answer)
        for entry in self.cluster.get("/audit", act="token.create")["entries"]:
            self.assertTrue(entry["address"].startswith("127.0.0.1:"), entry)

    def test_a_token_for_a_host_lets_no_server_in_nor_the_other_way(self):
        outcome = self.assertCode(self.cluster.muster("servers", "invite"), 0)
        agent = subprocess.run([str(BIN / "muster-agent"), "--server", self.cluster.url, "--data",
                                str(self.cluster.folder / "wrong"), "--name", "wrong", "--join", outcome.text.strip()],
                               capture_output=True, check=False)
        self.assertNotEqual(agent.returncode, 0)
        self.assertIn(b"for a server, not a host", agent.stderr)
        server = self._join("sx", self.cluster.invite())
        self.assertIn(b"for hosts, not a server", server.stderr)
        self.assertNotEqual(server.returncode, 0)
        self.assertEqual(self._join("sx", outcome.text.strip()).returncode, 0)
        again = self._join("sy", outcome.text.strip())
        self.assertIn(b"used up", again.stderr)
        self.assertIn(b"belongs to a server", self._join("sx", "").stderr)
        self.assertIn(b"'muster servers invite' prints one", self._join("sz", "mj1.nothing").stderr)

    def _join(self, name, token):
        return subprocess.run([str(BIN / "musterd"), "join", "--server", self.cluster.url, "--name", name, "--data",
                               str(self.cluster.folder / name), "--join", token], capture_output=True, check=False)

    def test_a_cluster_without_what_it_needs_says_so(self):
        for settings, complaint in (({"cluster": {"name": "s_1", "etcd": ["http://127.0.0.1:1"]}}, b"'s_1' is not a name"),
                                    ({"cluster": {"etcd": ["http://127.0.0.1:1"]}}, b"set store.postgres"),
                                    ({"store": {"postgres": "host=127.0.0.1"}, "cluster": {"etcd": ["http://127.0.0.1:1"]}},
                                     b"set public_url")):
            config = self.cluster.folder / "bad.yaml"
            config.write_text(json.dumps(settings))
            done = subprocess.run([str(BIN / "musterd"), "--config", str(config), "--data", str(self.cluster.folder / "bad")],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(complaint, done.stderr)


class Failover(ServersTest):
    def test_leader_is_killed_and_work_goes_on(self):
        leader = self.cluster.leader()
        self.cluster.front = self.cluster.followers()[0]
        for member in self.cluster.members:
            self.agent_at(f"kill-{member.name}", member)
        runs = [GatedRun(self.cluster, f"kill-{member.name}") for member in self.cluster.members]
        old, new, _ = self.cluster.kill_leader()
        self.assertIs(old, leader)
        self.assertIsNot(new, old)
        for run in runs:
            run.open_gate()
        for run in runs:
            run.assert_ended_once(self)
        self.cluster.wait_online(*(f"kill-{member.name}" for member in self.cluster.members))
        self.assertEqual(self.states()[old.name], "gone")
        old.start()
        self.cluster.wait_ready(old)
        wait_until("it is back as a follower", lambda: self.states()[old.name] == "follows")

    def test_a_file_is_kept_by_two_servers_and_outlives_its_leader(self):
        self.cluster.front = self.cluster.followers()[0]
        agent = self.agent_at("files", self.cluster.front)
        content = os.urandom(300_000)
        source, place = self.cluster.folder / "payload", self.cluster.folder / "placed"
        source.write_bytes(content)
        self.assertCode(self.cluster.muster("cp", "-t", "files", source, f"{place}-1"), 0)
        self.assertEqual(Path(f"{place}-1").read_bytes(), content)
        name = hashlib.sha256(content).hexdigest()
        self.assertGreaterEqual(len(self._holders(name)), 2)
        for number in (2, 3):
            wait_until("it knows where else to go", lambda: "," in self.servers_known_to(agent))
            old, _, _ = self.cluster.kill_leader()
            self.assertCode(self.cluster.muster("cp", "-t", "files", source, f"{place}-{number}"), 0)
            self.assertEqual(Path(f"{place}-{number}").read_bytes(), content)
            old.start()
            self.cluster.wait_ready()
        self.assertGreaterEqual(len(self._holders(name)), 2)

    def _holders(self, sha256):
        return [member.name for member in self.cluster.members
                if any((member.data / "artifacts").rglob(sha256))]

    def test_leader_is_frozen_and_goes_on_as_a_follower(self):
        leader = self.cluster.leader()
        self.cluster.front = self.cluster.followers()[0]
        self.agent_at("frozen", leader)
        run = GatedRun(self.cluster, "frozen")
        leader.process.send_signal(signal.SIGSTOP)
        try:
            wait_until("another one leads", lambda: any(m.leads() for m in self.cluster.members if m is not leader))
            # The agent goes to a server that answers.
            self.assertCode(self.cluster.muster("run", "--wait-offline", "60s", "-t", "frozen", "--", "true"), 0)
        finally:
            leader.process.send_signal(signal.SIGCONT)
        self.cluster.wait_ready()
        self.assertFalse(leader.leads())
        self.cluster.wait_online("frozen")
        run.open_gate()
        run.assert_ended_once(self)

    def test_drained_servers_give_up_links_and_lead(self):
        leader = self.cluster.leader()
        follower, stays = self.cluster.followers()
        self.agent_at("drain", follower)
        self.cluster.front = stays
        self.assertCode(self.cluster.muster("servers", "drain", follower.name, "--reason", "kernel"), 0)
        self.assertCode(self.cluster.muster("servers", "drain", leader.name), 0)
        wait_until("the one that is left leads", stays.leads)
        wait_until("nobody is sent there", lambda: "draining" in (follower.ready() or ""))
        self.cluster.wait_online("drain")
        wait_until("the agent moved", lambda: self._links(stays.name) >= 1)
        self.assertCode(self.cluster.muster("run", "-t", "drain", "--", "true"), 0)
        wait_until("both are known to drain", lambda: {self.states()[m.name] for m in (leader, follower)} == {"draining"})
        self.assertCode(self.cluster.muster("servers", "drain", stays.name), 1)
        for member in (leader, follower):
            self.assertCode(self.cluster.muster("servers", "undrain", member.name), 0)
        self.cluster.wait_ready()
        acts = [entry["act"] for entry in self.cluster.get("/audit", limit=10)["entries"]]
        self.assertEqual(acts.count("server.drain"), 2)

    def test_acts_wait_for_the_next_leader(self):
        leader = self.cluster.leader()
        self.cluster.front = self.cluster.followers()[0]
        self.agent_at("acts", self.cluster.front)
        leader.end(signal.SIGKILL)
        self.assertCode(self.cluster.muster("hosts", "label", "acts", "by=hand"), 0)
        self.assertEqual(self.cluster.get("/hosts/acts")["labels"]["by"], "hand")

    def test_lead_goes_round_when_each_leader_is_drained_for_a_moment(self):
        for _ in range(4):
            leader = self.cluster.leader()
            self.cluster.front = self.cluster.followers()[0]
            path = f"/api/v1/servers/{leader.name}"
            answer = self.cluster.http("POST", path + "/drain", {})  # answered by one that steps down with it
            self.assertEqual(answer.status, 200, answer)
            wait_until("another one leads", lambda: any(m.leads() for m in self.cluster.members if m is not leader))
            # The new leader may not have heard of the one that led.
            wait_until("the drain is over", lambda: self.cluster.http("POST", path + "/undrain", {}).status == 200)
            self.cluster.wait_ready()

    def _links(self, name):
        return next(server["links"] for server in self.cluster.get("/servers")["servers"] if server["name"] == name)


class WhatItStandsOn(ServersTest):
    def test_postgres_is_killed_and_comes_back(self):
        self.agent_at("pg", self.cluster.followers()[0])
        run = GatedRun(self.cluster, "pg")
        self.cluster.postgres.end(signal.SIGKILL)
        run.open_gate()
        answer = wait_until("calls are told", self._refused)
        self.assertIn(answer.status, (503, 504), answer)
        for member in self.cluster.members:  # also those that never wrote
            wait_until(f"{member.name} says why", lambda member=member: "postgres" in (member.ready() or ""))
        wait_until("calls are told why", lambda: "postgres" in self._refused().body.decode())
        self.cluster.postgres.start()
        self.cluster.postgres.wait()
        run.assert_ended_once(self)
        self.cluster.wait_ready()
        self.assertCode(self.cluster.muster("run", "-t", "pg", "--", "true"), 0)

    def _refused(self):
        answer = self.cluster.http("POST", "/api/v1/tokens", {"name": "never", "role": "viewer"})
        return answer if answer.status >= 400 else None

    def test_etcd_loses_its_majority_and_gets_it_back(self):
        self.agent_at("etcd", self.cluster.leader())
        done = self.assertCode(self.cluster.muster("run", "-t", "etcd", "-o", "json", "--", "echo kept"), 0)
        before = done.json()["id"]
        run = GatedRun(self.cluster, "etcd")
        for member in self.cluster.etcd.members[1:]:
            member.end(signal.SIGKILL)
        wait_until("nobody leads", lambda: not any(member.leads() for member in self.cluster.members))
        answer = wait_until("calls are told", self._refused)
        self.assertEqual(answer.status, 503, answer)
        for member in self.cluster.members:
            here = self.cluster.at(member)
            self.assertEqual(here.log_of(before, "etcd"), b"kept\n")  # what is on record needs no leader
            self.assertEqual(here.http("GET", f"/api/v1/runs/{before}").status, 503)
        run.open_gate()
        for member in self.cluster.etcd.members[1:]:
            member.start()
        self.cluster.leader()
        run.assert_ended_once(self)
        self.cluster.wait_ready()

    def test_one_member_of_etcd_is_lost_and_nothing_happens(self):
        leader = self.cluster.leader()
        term = self.cluster.get("/status")["term"]
        self.cluster.etcd.members[0].end(signal.SIGKILL)
        try:
            self.agent_at("one", leader)
            for _ in range(5):
                self.assertCode(self.cluster.muster("run", "-t", "one", "--", "true"), 0)
            self.assertEqual(self.cluster.get("/status")["term"], term)
        finally:
            self.cluster.etcd.members[0].start()


if __name__ == "__main__":
    unittest.main()
