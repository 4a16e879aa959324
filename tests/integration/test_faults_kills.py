"""Server and agents killed again and again in the middle of two hundred tasks that talk. MUSTER_CHAOS_SEED
repeats the choices of an earlier run; scripts/chaos goes on for longer."""

import os
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from chaos import Chaos  # noqa: E402
from muster_cluster import ClusterTest  # noqa: E402

KILLS = 12
HOSTS = ("h1", "h2", "h3", "h4", "h5")


class Kills(ClusterTest):
    def test_no_script_runs_twice_and_no_output_is_missing(self):
        seed = int(os.environ.get("MUSTER_CHAOS_SEED") or random.randrange(1 << 32))
        print(f"MUSTER_CHAOS_SEED={seed}", flush=True)
        chaos = Chaos(self.new_cluster(*HOSTS), HOSTS, seed)
        self.addCleanup(chaos.calls.close)
        self.assertGreaterEqual(chaos.history(KILLS), chaos.tasks)


if __name__ == "__main__":
    unittest.main(verbosity=2)
