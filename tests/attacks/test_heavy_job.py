#!/usr/bin/env python3
"""An operator starts a job that takes the server long to think about.

The attacker holds an operator's token. Their job has very many stages with very many switches; what the server works out about
it, on the thread that decides for everybody, must not keep others from their work.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

STAGES = 250
SWITCHES = 40
PATIENCE = 10  # seconds; each command takes less than one


def heavy():
    """Each stage can lead to forty branches, and each branch to forty others and back."""
    def switches(at):
        targets = ((at * 7 + i * 3) % STAGES for i in range(SWITCHES))
        return "{" + ", ".join(f"s{i}: b{target}" for i, target in enumerate(targets)) + ", back: m0}"

    lines = ["apiVersion: muster/v1", "kind: job", "name: heavy", "targets: h1", "stages:"]
    lines += [f"  - {{name: m{i}, script: 'sleep 1000', switch: {switches(i)}}}" for i in range(STAGES)]
    lines += ["branches:"]
    lines += [f"  - {{name: b{i}, approve: {{message: '?'}}, switch: {switches(i + 1)}}}" for i in range(STAGES)]
    return "\n".join(lines) + "\n"


class HeavyJob(ClusterTest):
    hosts = ("h1", "h2")

    def test_others_go_on(self):
        token = self.cluster.muster("tokens", "create", "mallory", "--role", "operator").text.strip()
        file = self.cluster.folder / "heavy.yaml"
        file.write_text(heavy())
        mallory = {"MUSTER_TOKEN": token, "MUSTER_TOKEN_FILE": ""}
        self.assertCode(self.cluster.muster("apply", "-f", file, environment=mallory), 0)
        for _ in range(3):
            run = self.cluster.muster("start", "heavy", environment=mallory, deadline=PATIENCE)
            self.assertCode(run, 0)
            self.assertCode(self.cluster.muster("skip", run.text.strip(), "m200", environment=mallory, deadline=PATIENCE), 0)
            self.assertCode(self.cluster.muster("run", "-t", "h2", "--", "true", deadline=PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
