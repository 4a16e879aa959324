"""The packages in a Debian with a kernel of its own: what the containers of test_packages cannot show, limits by
control groups of version 2 under systemd."""

import functools
import json
import unittest

import machine
import test_packages
from virtual_machine import NEEDS, SLOWER, VirtualMachine

machine.ALWAYS.extend(NEEDS)
test_packages.Machine = VirtualMachine
wait_until = functools.partial(machine.wait_until, deadline=SLOWER * machine.DEADLINE)
test_packages.wait_until = wait_until

GROUP = "/sys/fs/cgroup/system.slice/muster-agent.service"
HUNGRY = "echo begin; while [ ! -e \"$HOME/eat\" ]; do sleep 0.2; done; head -c 200M /dev/zero | tail | wc -c"


class VirtualPackages(test_packages.Packages):
    def run_of(self, outcome):
        self.assertEqual(outcome.code, 0, outcome)
        return outcome.text.strip()

    def ended(self, run):
        shown = json.loads(self.muster("show", run, "-o", "json").text)
        return shown if shown["state"] not in ("running", "queued", "created") else None

    def limit(self, run):
        return self.machine.sh(f"cat {GROUP}/muster-*-{run}-*/memory.max").strip()

    def test_0_the_kernel_has_version_2(self):
        self.assertEqual(self.machine.must("stat", "-fc", "%T", "/sys/fs/cgroup").strip(), "cgroup2fs")

    def test_45_limits_hold_also_after_restart_and_crash_of_the_agent(self):
        run = self.run_of(self.muster("run", "-d", "-t", "testhost", "--memory", "64MB", "--", HUNGRY))
        wait_until("the task speaks", lambda: "begin" in self.muster("logs", run, "--host", "testhost").text)
        self.assertEqual(self.limit(run), str(64 << 20))
        before = self.agent_pid()
        self.machine.must("systemctl", "restart", "muster-agent")
        self.wait_online()
        self.assertNotEqual(self.agent_pid(), before)
        self.assertEqual(self.limit(run), str(64 << 20))
        before = self.agent_pid()
        self.machine.sh(f"kill -KILL {before}")
        wait_until("systemd starts the agent again", lambda: self.agent_pid() not in (0, before))
        self.wait_online()
        self.assertEqual(self.limit(run), str(64 << 20))

        self.machine.sh("touch /var/lib/muster-task/eat")
        self.assertEqual(wait_until("the run ends", lambda: self.ended(run))["state"], "failed")
        self.assertIn("out of memory: limit 64 MiB", self.muster("show", run).text)
        self.assertEqual(self.machine.sh(f"cd {GROUP}; ls -d muster-* 2>/dev/null | wc -l").strip(), "0")

    def test_46_processes_are_limited(self):
        ran = self.muster("run", "-t", "testhost", "--processes", "5", "--",
                          "for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait")
        self.assertEqual(ran.code, 1, ran)
        self.assertIn("fork", (ran.text + ran.complaint).lower())


del test_packages.Packages  # only the tests of this machine are to run

if __name__ == "__main__":
    unittest.main()
