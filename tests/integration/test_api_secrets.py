"""What the port and the data folders keep to themselves: certificates, keys, tokens."""

import http.client
import socket
import ssl
import stat
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from api_contract import ApiTest  # noqa: E402
from muster_cluster import BIN, DEADLINE, wait_until  # noqa: E402


class Secrets(ApiTest):
    def test_certificate_verifies_against_the_ca(self):
        for name in ("127.0.0.1", "localhost"):
            context = ssl.create_default_context(cafile=self.cluster.data / "ca.pem")
            with context.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30),
                                     server_hostname=name) as link:
                self.assertEqual(link.version(), "TLSv1.3")

    def test_certificate_does_not_verify_for_others(self):
        for context, name in ((ssl.create_default_context(), "127.0.0.1"), (self.cluster.tls(), "muster.example")):
            with self.assertRaises(ssl.SSLCertVerificationError):
                context.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30), server_hostname=name)

    def test_link_needs_a_certificate(self):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        for headers in (None, upgrade):
            answer = self.cluster.http("GET", "/api/v1/link", headers=headers)
            self.assertEqual(answer.status, 403, answer)
            self.assertEqual(answer.json()["error"]["code"], "denied")

    def test_link_takes_only_certificates_of_its_ca(self):
        other = self.new_cluster("stranger")
        context = self.cluster.tls()
        data = other.agents["stranger"].data
        context.load_cert_chain(data / "agent.crt", data / "agent.key")
        # TLS 1.3 tells a client of its refusal only with the first read.
        with self.assertRaises((ssl.SSLError, OSError, http.client.HTTPException, AssertionError)):
            connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=30)
            self.addCleanup(connection.close)
            connection.request("GET", "/api/v1/link")
            self.assertLess(connection.getresponse().status, 400)

    def test_secrets_are_readable_only_by_their_owner(self):
        def mode(path):
            return stat.S_IMODE(path.stat().st_mode)

        self.assertEqual(mode(self.cluster.data), 0o700)
        for name in ("admin.token", "ca.key", "server.key"):
            self.assertEqual(mode(self.cluster.data / name), 0o600, name)
        agent = self.cluster.agents["h1"].data
        self.assertEqual(mode(agent / "agent.key"), 0o600)
        self.assertEqual(mode(agent) & 0o066, 0)

    def test_task_files_are_not_readable_by_others(self):
        run = self.cluster.start_run("-t", "h1", "--env", "SECRET=x", "--", "echo private; sleep 1000")
        self.cluster.wait_task(run, "h1", "running")
        folder, = self.cluster.agents["h1"].tasks()
        wait_until("output is in the spool", (folder / "out").exists)
        for file in folder.iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o077, 0, file)
        self.assertEqual(self.cluster.muster("kill", run).code, 0)
        self.cluster.wait_end(run)

    def test_token_does_not_show_in_logs(self):
        self.cluster.http("GET", "/api/v1/runs")
        self.assertNotIn(self.cluster.token, self.cluster.server.log.read_text())

    def test_join_token_is_used_up(self):
        cluster = self.new_cluster()
        token = cluster.invite(uses=1)

        def join(name):
            return cluster.add_daemon(name, [BIN / "muster-agent", "--server", cluster.url, "--name", name, "--data",
                                             cluster.folder / name], {"MUSTER_JOIN": token})

        join("one")
        cluster.wait_online("one")
        second = join("two")
        self.assertEqual(second.process.wait(DEADLINE), 3)
        self.assertIn("used up", second.tail())
        self.assertEqual(cluster.online(), {"one"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
