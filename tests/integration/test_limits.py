"""Resource limits per task: kept by the kernel where an agent may use control groups, refused elsewhere."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import Agent, ClusterTest, wait_until  # noqa: E402

NOBODY = 65534
# Holds what it reads until the end: grows until something stops it, and by itself at 1 GB.
FILL = "head -c 1000000000 /dev/zero | tail"


def groups_of(agent):
    """Folders of the groups that the agent made for its tasks."""
    store = next(line.split("=")[1].strip() for line in (agent.data / "agent.conf").read_text().splitlines()
                 if line.startswith("store"))
    found = subprocess.run(["find", "/sys/fs/cgroup", "-maxdepth", "6", "-type", "d", "-name",
                            f"muster-{store[:8]}-*"], capture_output=True, text=True, check=False).stdout
    return [Path(line) for line in found.splitlines()]


class LimitsTest(ClusterTest):
    """The host `here` may limit what this machine lets it; `poor` is an agent without rights to do so."""

    hosts = ("here", "poor")

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("here")
        cls.add_poor_agent()
        cls.cluster.wait_online(*cls.hosts)
        wait_until("the agent says what it can limit", lambda: cls.cluster.agents["here"].running())

    @classmethod
    def add_poor_agent(cls):
        data = cls.cluster.folder / "poor"
        data.mkdir()
        agent = Agent(cls.cluster, "poor", data)
        if os.geteuid() == 0:
            os.chown(data, NOBODY, NOBODY)
            agent.words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *agent.words]
        cls.cluster.agents["poor"] = agent
        cls.cluster.daemons.append(agent)
        agent.join()

    def limited(self, host, *words):
        """The task of a run on one host, with the options and the command given."""
        outcome = self.cluster.muster("run", "-t", host, "-o", "json", *words)
        run = outcome.json()["id"]
        self.cluster.wait_end(run)
        return outcome, self.cluster.task_of(run, host)

    def can_limit(self, resource):
        """Whether `here` can; if not, it must refuse and say so."""
        if f"tasks cannot be limited in {resource}" not in self.cluster.agents["here"].log.read_text():
            return True
        outcome, task = self.limited("here", *self.SOME[resource], "--", "true")
        self.assertRefused(outcome, task, "here", resource)
        return False

    SOME = {"memory": ("--memory", "512M"), "cpu": ("--cpu", "0.5"), "processes": ("--processes", "50")}

    def assertRefused(self, outcome, task, host, resource):
        self.assertCode(outcome, 6)
        self.assertEqual(task["state"], "refused")
        self.assertEqual(task["attempt"], 0)
        self.assertIn(f"host {host} cannot limit {resource}: no cgroup controller", task["reason"])

    def test_memory_filled(self):
        if not self.can_limit("memory"):
            return
        outcome, task = self.limited("here", "--memory", "64M", "--", FILL)
        self.assertCode(outcome, 1)
        self.assertEqual(task["state"], "failed")
        self.assertEqual(task["reason"], "out of memory: limit 64 MiB")
        self.assertLessEqual(task["peak_memory"], 64 << 20)
        self.assertGreater(task["peak_memory"], 32 << 20)
        wait_until("its group is gone", lambda: not groups_of(self.cluster.agents["here"]))

    def test_memory_kept(self):
        if not self.can_limit("memory"):
            return
        outcome, task = self.limited("here", "--memory", "512M", "--", "echo fine")
        self.assertCode(outcome, 0)
        self.assertEqual(task["state"], "succeeded")
        self.assertGreater(task["peak_memory"], 0)

    def test_fork_bomb(self):
        if not self.can_limit("processes"):
            return
        outcome, task = self.limited("here", "--processes", "50", "--timeout", "3s", "--grace", "0s", "--leftovers",
                                     "kill", "--max-output", "64k", "--", "b() { b | b & b; }; b")
        self.assertCode(outcome, 1)
        self.assertIn(task["state"], ("failed", "timed_out"))
        self.assertFalse(task["leftovers"])
        wait_until("its group is gone", lambda: not groups_of(self.cluster.agents["here"]))

    def test_cpu_in_the_kernels_words(self):
        if not self.can_limit("cpu"):
            return
        agent = self.cluster.agents["here"]
        run = self.cluster.start_run("-t", "here", "--cpu", "1.5", "--", "sleep 300")
        self.cluster.wait_task(run, "here", "running")
        group, = wait_until("its group is there", lambda: groups_of(agent))
        if (group / "cpu.max").exists():
            self.assertEqual((group / "cpu.max").read_text().split(), ["150000", "100000"])
        else:
            self.assertEqual((group / "cpu.cfs_quota_us").read_text().strip(), "150000")
            self.assertEqual((group / "cpu.cfs_period_us").read_text().strip(), "100000")
        wait_until("its process is inside", lambda: (group / "cgroup.procs").read_text().strip())
        self.assertCode(self.cluster.muster("stop", run, "--grace", "0s"), 0)
        self.cluster.wait_end(run)
        wait_until("its group is gone", lambda: not groups_of(agent))

    def test_limits_outlive_the_agent(self):
        if not self.can_limit("processes"):
            return
        agent = self.cluster.agents["here"]
        run = self.cluster.start_run("-t", "here", "--processes", "7", "--", "sleep 300")
        self.cluster.wait_task(run, "here", "running")
        group, = wait_until("its group is there", lambda: groups_of(agent))
        wait_until("its process is inside", lambda: (group / "cgroup.procs").read_text().strip())
        agent.end()
        agent.start()
        self.cluster.wait_online("here")
        self.assertEqual((group / "pids.max").read_text().strip(), "7")
        self.assertTrue((group / "cgroup.procs").read_text().strip())
        self.assertCode(self.cluster.muster("stop", run, "--grace", "0s"), 0)
        self.cluster.wait_end(run)
        self.assertEqual(self.cluster.task_of(run, "here")["state"], "killed")

    def test_refused_where_there_are_no_groups(self):
        for resource, words in self.SOME.items():
            outcome, task = self.limited("poor", *words, "--", "true")
            self.assertRefused(outcome, task, "poor", resource)
        outcome, task = self.limited("poor", "--", "true")
        self.assertCode(outcome, 0)

    def test_a_limit_that_makes_no_sense(self):
        for words in (("--memory", "1k"), ("--memory", "much"), ("--cpu", "0.001"), ("--processes", "-1")):
            outcome = self.assertCode(self.cluster.muster("run", "-t", "here", *words, "--", "true"), 2)
            self.assertIn(words[0], outcome.complaint)


if __name__ == "__main__":
    unittest.main()
