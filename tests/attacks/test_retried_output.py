#!/usr/bin/env python3
"""A task of a retried run sends more output than it may.

The attacker is root on a host, or the author of a script. After `retry --version latest` a task has the same bound as
after a plain start: 16 MiB, or its share of the run's gigabyte, if the job says nothing else.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

MOST = 16 << 20
JOB = """apiVersion: muster/v1
kind: job
name: loud
targets: h1
stages:
  - name: work
    script: {script}
"""


class RetriedOutput(ClusterTest):
    hosts = ("h1",)

    def apply(self, script):
        file = self.cluster.folder / "loud.yaml"
        file.write_text(JOB.format(script=script))
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)

    def test_corrected_version_has_a_bound(self):
        self.apply("'false'")
        run = self.cluster.muster("start", "loud").text.strip()
        self.cluster.wait_end(run)
        self.apply("head -c 40000000 /dev/zero")
        self.assertCode(self.cluster.muster("retry", run, "--version", "latest"), 0)
        self.cluster.wait_end(run)
        log = self.cluster.task_of(run, "h1")["log"]
        self.assertEqual((log["state"], log["bytes"]), ("cut", MOST))


if __name__ == "__main__":
    unittest.main()
