"""A full disk on the host: tasks are refused or told with a gap, never falsely; they can be stopped; and the
agent goes on when there is room again."""

import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from gated_run import GatedRun  # noqa: E402
from muster_cluster import ClusterTest, alive, processes_of, wait_until  # noqa: E402
from small_disk import SmallDisk, with_own_mounts  # noqa: E402


class AgentDiskTest(ClusterTest):
    pages = 200

    def setUp(self):
        self.cluster = self.new_cluster()
        self.disk = SmallDisk(self.cluster.folder / "h1", self.pages * 4096)
        self.addCleanup(self.disk.close)
        self.agent = self.cluster.add_agent("h1")
        self.cluster.wait_online("h1")

    def told_of(self, *words, code):
        outcome = self.cluster.muster("run", "-t", "h1", "-o", "json", *words)
        return self.assertCode(outcome, code).json()["hosts"][0]

    def assertWorks(self):
        told = self.told_of("--", "seq 1 5000", code=0)
        self.assertEqual((told["state"], told["log"]["state"], told["log"]["bytes"]), ("succeeded", "complete", 23893))
        wait_until("the agent forgets the task", lambda: not self.agent.tasks())


class FullDisk(AgentDiskTest):
    def test_new_tasks_are_refused_until_there_is_room(self):
        self.disk.fill()
        told = self.told_of("--", "echo hi", code=6)
        self.assertEqual((told["state"], told["log"]["state"]), ("refused", "complete"))
        self.assertIn("free", told["reason"])
        self.disk.give_back()
        self.assertWorks()

    def test_output_without_room_is_a_gap_and_the_end_is_true(self):
        gate = self.cluster.folder / "gate"
        run = self.cluster.start_run("-t", "h1", "--", f"echo begun; until test -e {gate}; do sleep 0.05; done; "
                                     "seq 1 5000; echo end; exit 3")
        wait_until("its first line has arrived", lambda: self.cluster.log_of(run, "h1") == b"begun\n")
        self.disk.fill()
        gate.touch()
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"failed": 1})
        task = self.cluster.task_of(run, "h1")
        self.assertEqual((task["exit_code"], task["log"]["state"]), (3, "gap"), task)
        shown = self.assertCode(self.cluster.muster("logs", run, "--host", "h1"), 0)
        self.assertTrue(b"begun\n" == shown.out[:6] and len(shown.out) == task["log"]["bytes"], shown)
        self.assertIn("missing", shown.complaint)
        self.disk.give_back()
        self.assertWorks()

    def test_what_runs_can_be_stopped(self):
        run = GatedRun(self.cluster, "h1")
        self.disk.fill()
        self.assertCode(self.cluster.muster("stop", run.id), 0)
        self.assertCode(run.finish(), 1)
        self.assertEqual(self.cluster.wait_end(run.id)["counts"], {"killed": 1})
        self.assertFalse(alive(run.pids()[0]))

    def test_agent_that_starts_without_room_goes_on_with_it(self):
        run = GatedRun(self.cluster, "h1")
        self.agent.end()
        self.cluster.wait_offline("h1")
        self.disk.fill()
        self.agent.start()
        wait_until("it says what is wrong", lambda: "No space left" in self.agent.tail())
        self.assertTrue(self.agent.running())
        run.open_gate()
        self.disk.give_back()
        run.assert_ended_once(self)
        self.assertWorks()


class HardlyRoom(AgentDiskTest):
    """A page is 5 % here: enough for the agent to begin, not for a task to end."""

    pages = 20

    def shims(self):
        """How many: all its processes but the agent and its spawner."""
        return len([pid for pid in processes_of(self.agent.data) if alive(pid)]) - 2

    def test_task_without_room_for_its_end_is_refused_and_not_lost(self):
        marks = self.cluster.folder / "marks"
        self.disk.fill(leave_pages=1)
        run = self.cluster.start_run("-t", "h1", "--", f"echo x >> {marks}")
        wait_until("the agent has begun it", lambda: "task started" in self.agent.tail())
        # Not even the refusal has room: it is told when there is some.
        wait_until("the shim has given up", lambda: self.shims() == 0)
        self.disk.give_back()
        self.assertEqual(self.cluster.wait_end(run)["counts"], {"refused": 1})
        self.assertIn("disk", self.cluster.task_of(run, "h1")["reason"])
        self.assertFalse(marks.exists())
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)


class KeptTerm(ClusterTest):
    def test_no_task_starts_under_a_term_that_is_not_on_disk(self):
        """Else an agent that crashes could obey an older leader again."""
        cluster = self.new_cluster("h1")
        agent = cluster.agents["h1"]
        wait_until("the agent keeps its first term", (agent.data / "proven_term").exists)
        before = (agent.data / "proven_term").read_text()
        in_the_way = agent.data / "proven_term.new"
        in_the_way.mkdir()
        cluster.restart_server()
        wait_until("the agent has met the new term", lambda: "cannot keep the term" in agent.tail())
        outcome = cluster.muster("run", "-t", "h1", "--wait-offline", "5m", "-o", "json", "--", "echo hi")
        told = self.assertCode(outcome, 6).json()["hosts"][0]
        self.assertEqual((told["state"], told["log"]["bytes"]), ("refused", 0))
        self.assertEqual((agent.data / "proven_term").read_text(), before)
        shutil.rmtree(in_the_way)
        self.assertCode(cluster.muster("run", "-t", "h1", "--", "echo hi"), 0)
        self.assertNotEqual((agent.data / "proven_term").read_text(), before)


if __name__ == "__main__":
    with_own_mounts()
    unittest.main(verbosity=2)
