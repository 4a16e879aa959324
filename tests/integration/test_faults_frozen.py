"""Processes that stand still and go on later, hosts that never come back, folders that were copied."""

import datetime
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import Agent, ClusterTest, alive, wait_until  # noqa: E402


class FrozenTest(ClusterTest):
    def setUp(self):
        self.cluster = self.new_cluster("h1", settings={"heartbeat": "200ms", "order_life": "1s",
                                                        "reconnect_bound": "1s", "takeover_grace": "1s"})
        self.agent = self.cluster.agents["h1"]

    def freeze(self, daemon):
        """Stops the process where it is; whatever happens to the test, it goes on at the end."""
        daemon.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.thaw, daemon)

    @staticmethod
    def thaw(daemon):
        if daemon.running():
            daemon.process.send_signal(signal.SIGCONT)


class FrozenAgent(FrozenTest):
    def test_script_ends_meanwhile_and_nothing_is_missing(self):
        run = GatedRun(self.cluster, "h1")
        self.freeze(self.agent)
        self.cluster.wait_offline("h1")
        run.open_gate()
        self.thaw(self.agent)
        run.assert_ended_once(self)

    def test_order_that_waited_in_its_socket_is_obeyed_once(self):
        """It is past its start_by when the agent reads it, on a link the server has closed."""
        marks = self.cluster.folder / "marks"
        self.freeze(self.agent)
        run = self.cluster.start_run("-t", "h1", "--wait-offline", "5m", "--", f"echo x >> {marks}; echo once")
        self.cluster.wait_task(run, "h1", "sent")
        self.cluster.wait_offline("h1")
        self.assertFalse(marks.exists())
        self.thaw(self.agent)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": 1})
        self.assertEqual(self.cluster.log_of(run, "h1"), b"once\n")
        self.assertEqual(marks.read_text(), "x\n")

    def test_order_that_came_too_late_on_a_living_link_is_made_again(self):
        """Frozen for longer than order_life and shorter than the silence that closes a link."""
        marks = self.cluster.folder / "marks"
        self.freeze(self.agent)
        run = self.cluster.start_run("-t", "h1", "--wait-offline", "5m", "--", f"echo x >> {marks}; echo once")
        sent = self.cluster.wait_task(run, "h1", "sent")["sent"]
        wait_until("its start_by is past", lambda: self.seconds_since(sent) > 2)
        self.assertIn("h1", self.cluster.online())
        self.thaw(self.agent)
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"succeeded": 1})
        self.assertEqual(self.cluster.task_of(run, "h1")["attempt"], 2)
        self.assertEqual(marks.read_text(), "x\n")

    @staticmethod
    def seconds_since(moment):
        then = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
        return (datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()

    def test_timeout_works_without_the_agent(self):
        run = GatedRun(self.cluster, "h1", "--timeout", "1s", "--grace", "1s")
        self.freeze(self.agent)
        wait_until("the timeout ended the script", lambda: not alive(run.pids()[0]))
        self.thaw(self.agent)
        self.assertCode(run.finish(), 1)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"timed_out": 1})


class FrozenServer(FrozenTest):
    def setUp(self):
        super().setUp()
        # It took the welcome, and knows how often to expect the server.
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)

    def test_server_goes_on_where_it_stood(self):
        run = GatedRun(self.cluster, "h1")
        self.freeze(self.cluster.server)
        wait_until("the agent gave the link up", lambda: "fell silent" in self.agent.tail())
        run.open_gate()
        self.thaw(self.cluster.server)
        run.assert_ended_once(self)

    def test_caller_waits_for_it_and_starts_once(self):
        marks = self.cluster.folder / "marks"
        self.freeze(self.cluster.server)
        waiter = self.cluster.begin("run", "-t", "h1", "--wait-offline", "5m", "--", f"echo x >> {marks}; echo once")
        wait_until("the agent gave the link up", lambda: "fell silent" in self.agent.tail())
        self.thaw(self.cluster.server)
        self.assertEqual(self.assertCode(waiter.finish(), 0).text, "once\n")
        self.assertEqual(marks.read_text(), "x\n")


class NeverBack(FrozenTest):
    def test_task_of_a_host_that_never_returns_is_lost_at_its_bound(self):
        run = GatedRun(self.cluster, "h1", "--timeout", "2s", "--grace", "1s")
        self.agent.end()
        outcome = self.assertCode(run.finish(), 6)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"lost": 1}, outcome)
        task = self.cluster.task_of(run.id, "h1")
        self.assertEqual(task["log"]["state"], "gap", task)
        self.assertEqual(self.cluster.log_of(run.id, "h1"), b"begun\n")
        with self.subTest("what it tells when it comes back after all changes no state"):
            wait_until("its script has ended", lambda: not alive(run.pids()[0]))
            self.agent.start()
            wait_until("the late report is kept", lambda: self.cluster.task_of(run.id, "h1").get("late"))
            late = self.cluster.task_of(run.id, "h1")
            self.assertEqual((late["state"], late["late"]["state"]), ("lost", "timed_out"), late)
            self.assertEqual(self.cluster.run_of(run.id)["counts"], {"lost": 1})
            shown = self.assertCode(self.cluster.muster("show", run.id), 0).text
            self.assertIn("h1: lost; later it reported: timed_out", shown)
            document = self.assertCode(self.cluster.muster("show", run.id, "-o", "json"), 0).json()
            self.assertEqual(document["hosts"][0]["late"]["state"], "timed_out")
            wait_until("the agent forgets the task", lambda: not self.agent.tasks())

    def test_takeover_does_not_call_it_lost_before_its_bound(self):
        """A server that starts gives the host time to say Hello before it judges."""
        run = GatedRun(self.cluster, "h1", "--timeout", "10m")
        self.agent.end()
        self.cluster.restart_server()
        self.assertEqual(self.cluster.run_of(run.id)["state"], "running")
        self.agent.start()
        run.open_gate()
        run.assert_ended_once(self)


class Clones(FrozenTest):
    def test_folder_copied_under_a_running_task(self):
        """The copy neither adopts the script nor ends it nor starts it again; nobody can say of the task
        more than that it is lost."""
        run = GatedRun(self.cluster, "h1")
        place = self.cluster.folder / "h1-copy"
        self.agent.copy_to(place)
        copy = Agent(self.cluster, "h1", place)
        self.cluster.daemons.append(copy)
        copy.start()
        wait_until("h1 is shown as a copy", lambda: self.cluster.get("/hosts/h1")["state"] == "copy")
        self.assertCode(run.finish(), 6)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"lost": 1})
        self.assertTrue(alive(run.pids()[0]))
        run.open_gate()
        self.assertEqual(run.marks.read_text(), "x\n")
        copy.end()
        self.agent.end()
        shutil.rmtree(self.agent.data)
        self.agent.join(replace=True)
        self.cluster.wait_online("h1")
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        self.assertEqual((len(run.pids()), self.cluster.run_of(run.id)["counts"]), (1, {"lost": 1}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
