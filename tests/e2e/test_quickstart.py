"""The one command of the README, as a newcomer types it."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import SOURCE, free_port, processes_of, wait_until  # noqa: E402


class Quickstart(unittest.TestCase):
    def test_once(self):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_")}
        environment["PORT"] = str(free_port())
        place = SOURCE / "build/quickstart"
        before = processes_of(place)
        done = subprocess.run([SOURCE / "scripts/quickstart", "--once"], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=840, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        for host in ("host1", "host2", "host3"):
            self.assertRegex(done.stdout, re.compile(rf"^{host} \| hello from {host}$", re.MULTILINE))
        wait_until("it has left nothing running", lambda: not processes_of(place) - before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
