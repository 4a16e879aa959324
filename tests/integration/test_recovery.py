"""What is promised when processes are killed: every accepted run ends, no script runs twice, nothing that
a script said is missing."""

import os
import shutil
import signal
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import DEADLINE, FINAL_RUN, Agent, ClusterTest, alive, command_line, processes_of, wait_until  # noqa: E402


class Crashes(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster("h1")
        self.agent = self.cluster.agents["h1"]

    def test_agent_killed_and_script_ends_while_it_is_away(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        run.open_gate()
        self.agent.start()
        run.assert_ended_once(self)

    def test_agent_killed_and_script_ends_after_it_is_back(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        self.cluster.wait_offline("h1")
        self.agent.start()
        self.cluster.wait_online("h1")
        self.assertEqual(self.cluster.task_of(run.id, "h1")["state"], "running")
        run.open_gate()
        run.assert_ended_once(self)

    def test_agent_stopped_for_an_upgrade(self):
        run = GatedRun(self.cluster, "h1")
        self.assertEqual(self.agent.end(signal.SIGTERM), 0)
        self.assertTrue(alive(run.pids()[0]))
        self.agent.start()
        self.cluster.wait_online("h1")
        run.open_gate()
        run.assert_ended_once(self)

    def test_server_killed_and_script_ends_while_it_is_away(self):
        run = GatedRun(self.cluster, "h1")
        self.cluster.server.end()
        run.open_gate()
        self.cluster.start_server()
        run.assert_ended_once(self)

    def test_server_killed_and_script_ends_after_it_is_back(self):
        run = GatedRun(self.cluster, "h1")
        self.cluster.restart_server()
        self.cluster.wait_online("h1")
        self.cluster.wait_task(run.id, "h1", "running")
        run.open_gate()
        run.assert_ended_once(self)

    def test_server_stopped_and_started(self):
        run = GatedRun(self.cluster, "h1")
        self.assertEqual(self.cluster.server.end(signal.SIGTERM), 0)
        self.cluster.start_server()
        run.open_gate()
        run.assert_ended_once(self)

    def test_both_killed_together(self):
        run = GatedRun(self.cluster, "h1")
        self.cluster.server.end()
        self.agent.end()
        run.open_gate()
        self.cluster.start_server()
        self.agent.start()
        run.assert_ended_once(self)

    def test_day_file_without_tables_harms_nobody(self):
        """What a crash leaves that comes between the making of a day's file of logs and of its table."""
        run = GatedRun(self.cluster, "h1")
        self.cluster.server.end()
        (self.cluster.data / "logs" / "2020-01-01.db").touch()
        run.open_gate()
        self.cluster.start_server()
        run.assert_ended_once(self)

    def test_day_file_with_a_hot_journal_harms_nobody(self):
        """What a crash leaves that comes while a day's file is written for the first time."""
        made = self.cluster.folder / "made.db"
        database = sqlite3.connect(made, isolation_level=None)
        database.executescript("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (x);")
        for _ in range(200):
            database.execute("INSERT INTO t VALUES (zeroblob(4000))")
        run = GatedRun(self.cluster, "h1")
        self.cluster.server.end()
        day = self.cluster.data / "logs" / "2020-01-01.db"
        shutil.copy(made, day)
        shutil.copy(f"{made}-journal", f"{day}-journal")
        database.close()
        run.open_gate()
        self.cluster.start_server()
        run.assert_ended_once(self)

    def test_open_outputs_are_counted_after_a_restart(self):
        gate = self.cluster.folder / "gate"
        size = 60_000_000  # takes long enough to send that the agent is ended before it is through
        run = self.cluster.start_run("-t", "h1", "--max-output", "100MB", "--", f"until test -e {gate}; do sleep 0.05; done; "
                                     f"head -c {size} /dev/urandom")
        self.cluster.wait_task(run, "h1", "running")
        self.cluster.server.end()
        gate.touch()
        wait_until("the script has ended", lambda: [task for task in self.agent.tasks() if (task / "exit").exists()])
        self.cluster.start_server()
        ended = wait_until("the run has ended", lambda: [now for now in [self.cluster.run_of(run)]
                                                         if now["state"] in FINAL_RUN])[0]
        self.agent.end()
        self.cluster.restart_server()
        self.assertEqual(self.cluster.task_of(run, "h1")["log"]["state"], "open")
        self.assertEqual(ended["state"], "succeeded")
        self.assertEqual(self.cluster.run_of(run)["logs_open"], 1)
        self.agent.start()
        self.cluster.wait_end(run)
        task = self.cluster.task_of(run, "h1")
        self.assertEqual((task["log"]["state"], task["log"]["bytes"]), ("complete", size))

    def test_timeout_works_while_the_server_is_away(self):
        run = GatedRun(self.cluster, "h1", "--timeout", "3s")
        self.cluster.server.end()
        wait_until("the timeout ended the script", lambda: not alive(run.pids()[0]))
        self.cluster.start_server()
        self.assertCode(run.finish(), 1)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"timed_out": 1})
        self.assertEqual(self.cluster.log_of(run.id, "h1"), b"begun\n")

    def test_stop_reaches_a_host_that_was_away(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        self.cluster.wait_offline("h1")
        self.assertCode(self.cluster.muster("stop", run.id), 0)
        self.assertTrue(alive(run.pids()[0]))
        self.agent.start()
        self.assertCode(run.finish(), 1)
        self.assertFalse(alive(run.pids()[0]))
        ended = self.cluster.wait_end(run.id)
        self.assertEqual((ended["state"], ended["counts"]), ("cancelled", {"killed": 1}))

    def test_stop_outlives_the_server(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        self.cluster.wait_offline("h1")
        self.assertCode(self.cluster.muster("stop", run.id), 0)
        self.cluster.restart_server()
        self.agent.start()
        self.assertCode(run.finish(), 1)
        self.assertFalse(alive(run.pids()[0]))
        self.assertEqual(self.cluster.wait_end(run.id)["state"], "cancelled")

    def test_wiped_agent_loses_its_task_and_never_runs_it_again(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        shutil.rmtree(self.agent.data)
        self.agent.join(replace=True)
        self.assertCode(run.finish(), 6)
        self.assertEqual(self.cluster.task_of(run.id, "h1")["state"], "lost")
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"lost": 1})
        run.open_gate()
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        self.assertEqual(len(run.pids()), 1)
        self.assertEqual(run.marks.read_text(), "x\n")

    def test_wiped_agent_without_a_token_that_may_replace_waits(self):
        self.agent.end()
        shutil.rmtree(self.agent.data)
        self.agent.join(replace=False)
        wait_until("it says why", lambda: "known already" in self.agent.tail())
        self.assertTrue(self.agent.running())

    def test_killed_shim_is_lost(self):
        run = GatedRun(self.cluster, "h1")
        shims = [pid for pid in processes_of(self.agent.data) if b" shim " in command_line(pid).replace(b"\0", b" ")]
        self.assertEqual(len(shims), 1)
        os.kill(shims[0], signal.SIGKILL)
        self.assertCode(run.finish(), 6)
        self.assertEqual(self.cluster.task_of(run.id, "h1")["state"], "lost")
        run.open_gate()
        self.assertEqual(len(run.pids()), 1)


class Copies(ClusterTest):
    def test_copied_folder_is_shown_and_gets_no_work(self):
        cluster = self.new_cluster("h1", "h2")
        marks = cluster.folder / "marks"
        place = cluster.folder / "h1-copy"
        cluster.agents["h1"].copy_to(place)
        copy = Agent(cluster, "h1", place)
        cluster.daemons.append(copy)
        copy.start()

        def state():
            hosts = cluster.muster("hosts", "-o", "json").json()["hosts"]
            return {host["name"]: host["state"] for host in hosts}["h1"]

        wait_until("h1 is shown as a copy", lambda: state() == "copy")
        host = cluster.get("/hosts/h1")
        self.assertFalse(host["online"])
        self.assertTrue(host["note"])
        self.assertIn("copy", cluster.muster("hosts").text)
        cluster.muster("run", "-t", "h1", "--wait-offline", "1s", "--", f"echo x >> {marks}")
        outcome = cluster.muster("run", "-t", "all", "--wait-offline", "1s", "-o", "json", "--", f"echo y >> {marks}")
        self.assertEqual({host["host"] for host in outcome.json()["hosts"] if host["state"] == "succeeded"}, {"h2"})
        self.assertEqual(marks.read_text(), "y\n")

    def test_joining_anew_ends_it(self):
        cluster = self.new_cluster("h1")
        agent = cluster.agents["h1"]
        place = cluster.folder / "h1-copy"
        agent.copy_to(place)
        copy = Agent(cluster, "h1", place)
        cluster.daemons.append(copy)
        copy.start()
        wait_until("h1 is shown as a copy", lambda: cluster.get("/hosts/h1")["state"] == "copy")
        copy.end()
        agent.end()
        shutil.rmtree(agent.data)
        agent.join(replace=True)
        cluster.wait_online("h1")
        self.assertEqual(cluster.get("/hosts/h1")["state"], "active")
        self.assertCode(cluster.muster("run", "-t", "h1", "--", "true"), 0)


class Storm(ClusterTest):
    ROUNDS = 5
    RUNS = 4

    def test_server_killed_again_and_again(self):
        """Runs are started while the server is killed. Whatever was accepted ends, once on each host."""
        hosts = ("h1", "h2", "h3")
        cluster = self.new_cluster(*hosts)
        marks = cluster.folder / "marks"
        marks.mkdir()
        line = f"echo x >> {marks}/$MUSTER_RUN.$MUSTER_HOST; echo $MUSTER_RUN $MUSTER_HOST"
        accepted = []
        for _ in range(self.ROUNDS):
            starts = [cluster.begin("run", "-d", "-t", "all", "--wait-offline", "5m", "--", line)
                      for _ in range(self.RUNS)]
            wait_until("one of them is accepted", lambda: any(start.said()[0].strip() for start in starts))
            cluster.restart_server()
            for start in starts:
                outcome = start.finish()
                self.assertCode(outcome, 0)
                accepted.append(outcome.text.strip())
        self.assertEqual(len(set(accepted)), self.ROUNDS * self.RUNS)
        cluster.wait_online(*hosts)
        for run in accepted:
            self.assertEqual(cluster.wait_end(run)["counts"], {"succeeded": len(hosts)}, run)
            for host in hosts:
                self.assertEqual(cluster.task_of(run, host)["log"]["state"], "complete", run)
                self.assertEqual(cluster.log_of(run, host), f"{run} {host}\n".encode())
        # Exactly these runs, exactly once on each host.
        self.assertEqual({run["id"] for run in cluster.get("/runs", limit=500)["runs"]}, set(accepted))
        self.assertEqual({mark.name: mark.read_text() for mark in marks.iterdir()},
                         {f"{run}.{host}": "x\n" for run in accepted for host in hosts})

    def test_agent_killed_again_and_again(self):
        """Also an agent that is killed between writing an order and the start of its shim: the order is proven
        never to have started, and the next attempt follows."""
        cluster = self.new_cluster("h1")
        agent = cluster.agents["h1"]
        marks = cluster.folder / "marks"
        marks.mkdir()
        runs = []
        for _ in range(self.ROUNDS):
            runs += [cluster.start_run("-t", "h1", "--wait-offline", "5m", "--",
                                       f"sleep 0.1; echo x >> {marks}/$MUSTER_RUN; seq 1 1000")
                     for _ in range(self.RUNS)]
            agent.end()
            agent.start()
        expected = "".join(f"{number}\n" for number in range(1, 1001)).encode()
        for run in runs:
            cluster.wait_end(run)
            task = cluster.task_of(run, "h1")
            mark = marks / run
            self.assertEqual((task["state"], task["log"]["state"]), ("succeeded", "complete"), run)
            self.assertEqual(cluster.log_of(run, "h1"), expected)
            self.assertEqual(mark.read_text(), "x\n", run)


class Leftovers(ClusterTest):
    hosts = ("h1",)

    def leave_behind(self, *options):
        outcome = self.cluster.muster("run", "-t", "h1", *options, "-o", "json", "--", "sleep 300 & echo $!")
        run = self.assertCode(outcome, 0).json()["id"]
        return run, int(self.cluster.log_of(run, "h1"))

    def test_what_outlives_the_command_is_kept_and_told(self):
        run, pid = self.leave_behind()
        self.assertTrue(self.cluster.task_of(run, "h1")["leftovers"])
        self.assertTrue(alive(pid))

    def test_or_ended_when_so_wished(self):
        run, pid = self.leave_behind("--leftovers", "kill", "--grace", "1s")
        wait_until("the leftover is ended", lambda: not alive(pid))
        self.assertFalse(self.cluster.task_of(run, "h1")["leftovers"])

    def test_command_without_leftovers_has_none(self):
        run = self.cluster.muster("run", "-t", "h1", "-o", "json", "--", "sleep 0.1 & wait").json()["id"]
        self.assertFalse(self.cluster.task_of(run, "h1")["leftovers"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
