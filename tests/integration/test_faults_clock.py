"""A wall clock set an hour ahead and back under server or agent: timeouts, waits, orders and heartbeats do not
care, ids go on, and output stays whole."""

import datetime
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from moved_clock import MovedClock  # noqa: E402
from muster_cluster import Cluster, ClusterTest, wait_until  # noqa: E402

HOUR = 3600
JUMPS = (HOUR, -HOUR, 0)


def ahead(moment):
    """By how many seconds a told time is ahead of the true one."""
    then = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return (then - datetime.datetime.now(datetime.timezone.utc)).total_seconds()


class ClockTest(ClusterTest):
    """Two hosts; `clock` is the server's or the first host's, as the class has it."""

    def setUp(self):
        self.clock = MovedClock()
        self.addCleanup(self.clock.close)
        self.cluster = self.make_cluster()
        self.cluster.wait_online("h1", "h2")

    def lost_links(self):
        return sum(agent.log.read_text().count("no link to") for agent in self.cluster.agents.values())

    def assertShortTasksWork(self):
        """Orders start, timeouts and waits come in their time: none early, none never."""
        outcome = self.cluster.muster("run", "-t", "all", "--timeout", "5m", "-o", "json", "--", "sleep 0.1; echo hi")
        self.assertEqual([(host["state"], host["attempt"], host["log"]["bytes"])
                          for host in self.assertCode(outcome, 0).json()["hosts"]], [("succeeded", 1, 3)] * 2)
        outcome = self.cluster.muster("run", "-t", "h1", "--timeout", "1s", "-o", "json", "--", "echo hi; sleep 300")
        self.assertEqual(self.assertCode(outcome, 1).json()["hosts"][0]["state"], "timed_out")

    def check_running_task_over_jumps(self):
        before = self.lost_links()
        run = GatedRun(self.cluster, "h1", "--timeout", "30m")
        ids = [run.id]
        for jump in JUMPS:
            self.clock.move(jump)
            wait_until(f"the clock is {jump} s ahead", lambda: abs(self.told_ahead() - jump) < 60)
            self.assertShortTasksWork()
            self.assertEqual(self.cluster.task_of(run.id, "h1")["state"], "running")
            ids.append(self.cluster.start_run("-t", "h2", "--", "true"))
        self.assertEqual(self.lost_links(), before)
        numbers = [int(run_id[1:]) for run_id in ids]
        self.assertEqual(numbers, sorted(set(numbers)))
        # The list is by id: a clock that went back puts no run in the wrong place.
        listed = [run["id"] for run in self.cluster.get("/runs", limit=500)["runs"]]
        self.assertEqual(listed, sorted(listed, key=lambda run_id: -int(run_id[1:])))
        run.open_gate()
        run.assert_ended_once(self)

    def check_absent_host_over_jumps(self):
        """What waits for a host waits by a clock that nobody sets."""
        agent = self.cluster.agents["h1"]
        run = GatedRun(self.cluster, "h1", "--timeout", "30m")
        agent.end()
        self.cluster.wait_offline("h1")
        waiting = self.cluster.start_run("-t", "h1", "--wait-offline", "30m", "--", "echo waited")
        for jump in JUMPS:
            self.clock.move(jump)
            outcome = self.cluster.muster("run", "-t", "all", "--wait-offline", "1s", "-o", "json", "--", "true")
            self.assertEqual([host["state"] for host in self.assertCode(outcome, 6).json()["hosts"]],
                             ["unreachable", "succeeded"])
            self.assertEqual(self.cluster.task_of(waiting, "h1")["state"], "queued")
            self.assertEqual(self.cluster.task_of(run.id, "h1")["state"], "running")
        agent.start()
        self.assertEqual(self.cluster.wait_end(waiting)["counts"], {"succeeded": 1})
        run.open_gate()
        run.assert_ended_once(self)


class ServerClock(ClockTest):
    def make_cluster(self):
        cluster = type("MovedCluster", (Cluster,), {"server_environment": self.clock.environment})()
        self.addCleanup(cluster.close)
        self._own.append(cluster)
        cluster.add_agents("h1", "h2")
        return cluster

    def told_ahead(self):
        run = self.cluster.start_run("-t", "h2", "--", "true")
        return ahead(self.cluster.run_of(run)["created"])

    def test_running_tasks_do_not_care(self):
        self.check_running_task_over_jumps()

    def test_waits_do_not_care(self):
        self.check_absent_host_over_jumps()

    def test_restart_under_a_moved_clock(self):
        """Also an agent that joined before, whose certificate is then an hour young or not yet valid."""
        for jump in JUMPS:
            run = GatedRun(self.cluster, "h1", "--timeout", "30m")
            self.clock.move(jump)
            self.cluster.restart_server()
            self.cluster.wait_online("h1", "h2")
            self.assertShortTasksWork()
            run.open_gate()
            run.assert_ended_once(self)

    def test_output_over_several_days_is_one(self):
        """Output is kept by day: a jump over midnight and back spreads a task over several files."""
        steps = self.cluster.folder / "steps"
        steps.mkdir()
        run = self.cluster.start_run("-t", "h1", "--", f"for i in 1 2 3 4; do until test -e {steps}/$i; do "
                                     "sleep 0.05; done; echo step $i; done")
        for step, jump in enumerate((24 * HOUR, -24 * HOUR, 48 * HOUR, 0), 1):
            self.clock.move(jump)
            (steps / str(step)).touch()
            expected = "".join(f"step {i}\n" for i in range(1, step + 1)).encode()
            wait_until(f"step {step} has arrived", lambda: self.cluster.log_of(run, "h1") == expected)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": 1})
        self.assertEqual(self.cluster.task_of(run, "h1")["log"]["state"], "complete")
        self.assertEqual(self.cluster.log_of(run, "h1"), expected)
        self.assertEqual(len(list((self.cluster.data / "logs").glob("*.db"))), 4)


class AgentClock(ClockTest):
    def make_cluster(self):
        cluster = self.new_cluster()
        cluster.add_agent("h1", environment=self.clock.environment)
        cluster.add_agent("h2")
        return cluster

    def told_ahead(self):
        """By the lines of its log; a task makes it write one."""
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        return ahead(self.cluster.agents["h1"].tail(1).split()[0])

    def test_running_tasks_do_not_care(self):
        self.check_running_task_over_jumps()

    def test_restart_under_a_moved_clock(self):
        agent = self.cluster.agents["h1"]
        for jump in JUMPS:
            run = GatedRun(self.cluster, "h1", "--timeout", "30m")
            agent.end()
            self.cluster.wait_offline("h1")
            self.clock.move(jump)
            agent.start()
            self.cluster.wait_online("h1")
            self.assertShortTasksWork()
            run.open_gate()
            run.assert_ended_once(self)

    def test_host_with_a_wrong_clock_can_join(self):
        for name, jump in (("early", HOUR), ("late", -HOUR)):
            self.clock.move(jump)
            self.cluster.add_agent(name, environment=self.clock.environment)
            self.cluster.wait_online(name)
            self.assertCode(self.cluster.muster("run", "-t", name, "--", "true"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
