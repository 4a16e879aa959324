"""A first start or a join of a server that is killed at any change it makes to its data folder can be repeated."""

import os
import stat
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from killed_at import KilledAt  # noqa: E402
from muster_cluster import BIN, ClusterTest, wait_until  # noqa: E402
from muster_processes import Daemon, clean_environment, free_port  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

SECRETS = ("ca.key", "seal.key", "admin.token")
MOST_POINTS = 200


class FirstStart(ClusterTest):
    hosts = ()

    def words(self, data, port):
        return [BIN / "musterd", "--data", data, "--listen", f"127.0.0.1:{port}"]

    def start_again(self, data, log):
        """The server answers, and its folder has what a first start makes, readable for its owner alone."""
        port = free_port()
        server = Daemon(self.words(data, port), log)
        self.cluster.daemons.append(server)
        server.start()
        try:
            wait_until("the server is ready", lambda: self.is_ready(server, data, port))
        finally:
            server.end()
        for name in SECRETS:
            self.assertEqual(stat.S_IMODE((data / name).stat().st_mode), 0o600, name)
        self.assertEqual([], [path.name for path in data.glob(".keys*")])

    def is_ready(self, server, data, port):
        if not server.running():
            raise AssertionError(server.tail())
        asked = subprocess.run(
            [BIN / "muster", "--server", f"https://127.0.0.1:{port}", "--ca", data / "ca.pem", "--token-file", data / "admin.token",
             "status"], env=clean_environment(), capture_output=True, check=False)
        return asked.returncode == 0

    def test_first_start_killed_at_any_point(self):
        self.cluster = self.new_cluster()
        calls = []
        for number in range(1, MOST_POINTS):
            data, log = self.cluster.folder / f"first-{number}", self.cluster.folder / f"first-{number}.log"
            killed = KilledAt(number, self.words(data, free_port()), log, clean_environment())
            self.assertIsNotNone(killed.call, log.read_text())
            calls.append(killed.call)
            with self.subTest(number=number, call=killed.call):
                self.start_again(data, log)
            if killed.call == "listen":
                break
        self.assertEqual(calls[-1], "listen")
        self.assertGreater(len(calls), 10)


class Join(ClusterTest):
    hosts = ()

    def test_join_killed_at_any_point(self):
        self.cluster = ServerCluster(servers=1, etcds=1)
        self.addCleanup(self.cluster.close)
        authority = (self.cluster.data / "ca.key").read_bytes()
        for number in range(1, MOST_POINTS):
            name = f"new{number}"
            data, log = self.cluster.folder / name, self.cluster.folder / f"{name}.log"
            token = self.assertCode(self.cluster.muster("servers", "invite", "--name", name), 0).text.strip()
            words = [BIN / "musterd", "join", "--server", self.cluster.url, "--name", name, "--data", data]
            environment = {**clean_environment(), "MUSTER_JOIN": token}
            killed = KilledAt(number, words, log, environment)
            with self.subTest(number=number, call=killed.call):
                again = subprocess.run(words, env=environment, capture_output=True, check=False)
                self.assertEqual(again.returncode, 0, again.stderr.decode())
                self.assertEqual((data / "ca.key").read_bytes(), authority)
                self.assertEqual(stat.S_IMODE(os.stat(data / "ca.key").st_mode), 0o600)
            if killed.call is None:
                self.assertEqual(killed.code, 0)
                self.assertGreater(number, 10)
                return
        self.fail("the join never came to its end")


if __name__ == "__main__":
    unittest.main(verbosity=2)
