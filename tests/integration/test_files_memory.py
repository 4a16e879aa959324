"""What files cost in memory on their way to hosts."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from large_files import digest_of, make_file, transfers_of  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402
from process_cost import MIB, most_memory_of  # noqa: E402


class Memory(ClusterTest):
    def test_a_large_file_passes_in_small_pieces(self):
        cluster = self.new_cluster("h1", "h2")
        source = cluster.folder / "large"
        digest = make_file(source, 300)
        places = {host: cluster.folder / f"placed-{host}" for host in ("h1", "h2")}
        commands = [cluster.begin("cp", "-t", host, source, place) for host, place in places.items()]
        most = {}

        def ended():
            for pid in transfers_of(cluster.folder):
                most[pid] = max(most.get(pid, 0), most_memory_of(pid))
            return all(command.process.poll() is not None for command in commands)

        wait_until("both have it", ended)
        for command in commands:
            self.assertCode(command.finish(), 0)
        for place in places.values():
            self.assertEqual(digest_of(place), digest)
        self.assertTrue(most)
        self.assertLess(max(most.values()), 100 * MIB, most)
        self.assertLess(most_memory_of(cluster.server.process.pid), 100 * MIB)


if __name__ == "__main__":
    unittest.main()
