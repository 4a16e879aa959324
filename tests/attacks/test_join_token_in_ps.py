#!/usr/bin/env python3
"""A local user reads tokens in `ps`: the one that makes a machine a server of the cluster gives every key.

The attacker may run nothing but `ps` on a machine where an operator types a token as an argument. While a program waits for a
server that does not answer, and while it runs, its command line must not show the token. The token must work all the same.
"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, ClusterTest, command_line, wait_until  # noqa: E402
from muster_processes import clean_environment  # noqa: E402

SECRET = "5ec7e7" * 7
TOKEN = f"mj1.{'a' * 64}.{SECRET[:40]}"


class Silent:
    """Takes connections and never says a word."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.taken = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                self.taken.append(self.socket.accept()[0])
            except OSError:
                return

    def close(self):
        self.socket.close()
        for connection in self.taken:
            connection.close()


class JoinTokenInPs(ClusterTest):
    def shown(self, program, words):
        """The command line of a program that waits for a silent server."""
        silent = Silent()
        self.addCleanup(silent.close)
        folder = tempfile.TemporaryDirectory(prefix="muster-test-")
        self.addCleanup(folder.cleanup)
        words = [word.format(port=silent.port, data=folder.name) for word in words]
        process = subprocess.Popen([str(BIN / program), *words], env={**clean_environment(), "HOME": folder.name},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(f"{program} has connected", lambda: silent.taken or process.poll() is not None)
            self.assertIsNone(process.poll(), f"{program} {words} ended")
            return command_line(process.pid).decode()
        finally:
            process.kill()
            process.wait()

    def assertHidden(self, program, words, secret):
        shown = self.shown(program, words)
        self.assertIn(program, shown)
        self.assertIn("127.0.0.1", shown, "the rest is to be seen as ever")
        self.assertNotIn(secret, shown)

    def test_server_that_joins(self):
        for join in (["--join", TOKEN], [f"--join={TOKEN}"]):
            with self.subTest(join=join):
                self.assertHidden("musterd", ["join", *join, "--server", "https://127.0.0.1:{port}", "--name", "s2", "--data",
                                              "{data}/new"], SECRET[:40])

    def test_agent_and_fleet_that_join(self):
        for program, more in (("muster-agent", []), ("muster-fleet", ["--count", "1"])):
            with self.subTest(program=program):
                self.assertHidden(program, ["--server", "https://127.0.0.1:{port}", "--data", "{data}/new", "--join", TOKEN,
                                            *more], SECRET[:40])

    def test_token_of_a_caller(self):
        for token in (["--token", SECRET], [f"--token={SECRET}"]):
            with self.subTest(token=token):
                self.assertHidden("muster", ["--server", "http://127.0.0.1:{port}", "hosts", *token], SECRET)

    def test_tokens_work_as_arguments(self):
        cluster = self.new_cluster()
        token = cluster.invite()
        agent = cluster.add_daemon("h1", [BIN / "muster-agent", "--server", cluster.url, "--name", "h1", "--data",
                                          cluster.folder / "h1", f"--join={token}"])
        cluster.wait_online("h1")
        self.assertNotIn(token.encode(), command_line(agent.process.pid))
        token = cluster.invite(replace=True)
        fleet = cluster.add_daemon("fleet", [BIN / "muster-fleet", "--server", cluster.url, "--count", "1", "--join", token])
        cluster.wait_online("fleet1")
        self.assertNotIn(token.encode(), command_line(fleet.process.pid))
        secret = (cluster.data / "admin.token").read_text().strip()
        done = subprocess.run([str(BIN / "muster"), "--token", secret, "--server", cluster.url, "--ca",
                               str(cluster.data / "ca.pem"), "whoami", "-o", "json"], env=clean_environment(),
                              capture_output=True, check=True)
        self.assertTrue(json.loads(done.stdout))


if __name__ == "__main__":
    unittest.main()
