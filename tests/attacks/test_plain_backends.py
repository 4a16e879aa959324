#!/usr/bin/env -S /usr/bin/python3 -B
"""Someone on the network between a server and its etcd or PostgreSQL: listens, answers in their place, or stands between.

Must not get: a single byte of a server that was set up without TLS (it must refuse to start), the lead or the records by
a certificate of another CA, or a connection in plain text by claiming not to know TLS. Who can write to etcd or to the
database decides what every host runs.
"""

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, Cluster  # noqa: E402
from muster_processes import DEADLINE, clean_environment, wait_until  # noqa: E402
from net_lab import NetLab  # noqa: E402
from test_certificates import Authority  # noqa: E402

SSL_REQUEST = bytes.fromhex("0000000804d2162f")  # of PostgreSQL: may we speak TLS?


class Listener:
    """The attacker's end: takes every connection, keeps what arrives, and answers as `answer(connection)` does."""

    def __init__(self, host, port, answer=None):
        self.received, self.connections, self.refused = bytearray(), 0, []
        self._answer = answer or self._listen
        with host.inside():
            self._socket = socket.create_server((host.address, port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.settimeout(DEADLINE)
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        with connection:
            try:
                self._answer(connection)
            except ssl.SSLError as error:
                self.refused.append(error.reason)
            except OSError:
                pass

    def _listen(self, connection):
        self.received += connection.recv(65536)

    def close(self):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()

    # Answers

    def as_tls(self, leaf, postgres=False):
        """Shows a certificate, and keeps what comes behind it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(leaf.cert, leaf.key)

        def answer(connection):
            if postgres:
                assert connection.recv(8, socket.MSG_WAITALL) == SSL_REQUEST
                connection.sendall(b"S")
            with context.wrap_socket(connection, server_side=True) as tls:
                self.received += tls.recv(65536)
        self._answer = answer
        return self

    def without_tls(self):
        """Of PostgreSQL: claims not to know TLS, and keeps what comes then."""
        def answer(connection):
            assert connection.recv(8, socket.MSG_WAITALL) == SSL_REQUEST
            connection.sendall(b"N")
            self.received += connection.recv(65536)
        self._answer = answer
        return self


class PlainBackends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="muster-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.own, cls.other = Authority(cls.folder / "own"), Authority(cls.folder / "other", "another CA")
        # Records and keys of a server, and a backup of them, for the commands that need one.
        cluster = Cluster()
        cls.data, cls.backup = cls.folder / "data", cls.folder / "backup"
        done = subprocess.run([BIN / "musterd", "backup", cls.backup, "--data", cluster.data], capture_output=True, check=False)
        assert done.returncode == 0, done
        cluster.server.end(15)
        shutil.copytree(cluster.data, cls.data)
        cluster.close()
        cls.lab = NetLab("attacker", "server")
        cls.addClassCleanup(cls.lab.close)
        cls.attacker, cls.server = cls.lab.host("attacker"), cls.lab.host("server")

    def listener(self, port):
        made = Listener(self.attacker, port)
        self.addCleanup(made.close)
        return made

    def config(self, store=None, etcd=None):
        file = self.folder / "musterd.yaml"
        settings = {"data": str(self.data), "listen": "127.0.0.1:8440", "public_url": "https://127.0.0.1:8440"}
        if store:
            settings["store"] = store
        if etcd:
            settings["cluster"] = {"name": "s1", **etcd}
        file.write_text(json.dumps(settings))
        return file

    def run_musterd(self, *words, environment=None):
        """On the server's host, to its end."""
        with self.server.inside():
            return subprocess.run([str(BIN / "musterd"), *map(str, words)], capture_output=True, text=True, check=False,
                                  timeout=DEADLINE, env={**clean_environment(), **(environment or {})})

    def start_musterd(self, config):
        daemon = self.server.start([BIN / "musterd", "--config", config], self.folder / f"{self._testMethodName}.log")
        self.addCleanup(daemon.end)
        return daemon

    def assert_refused(self, config, listener):
        """Neither a start nor a check takes the settings, and nothing was sent."""
        daemon = self.start_musterd(config)
        wait_until("it ends, or something arrives", lambda: not daemon.running() or listener.received)
        code, arrived = daemon.end(), bytes(listener.received)
        listener.received.clear()
        self.assertEqual((code, arrived), (2, b""), daemon.tail())
        self.assertEqual(listener.connections, 0)
        checked = self.run_musterd("check-config", "--config", config)
        self.assertEqual((checked.returncode, checked.stdout), (2, ""), checked)

    # Plain text

    def test_etcd_in_plain_text(self):
        listener = self.listener(2379)
        attacker = f"http://{self.attacker.address}:2379"
        for endpoints in ([attacker], ["http://127.0.0.1:1", attacker], ["https://127.0.0.1:1", attacker]):
            with self.subTest(endpoints=endpoints):
                self.assert_refused(self.config({"postgres": "host=127.0.0.1 port=1"}, {"etcd": endpoints}), listener)

    def test_etcd_behind_names_that_look_like_loopback(self):
        for url in ("http://127.evil.example:2379", "http://localhost.evil.example", "http://[::ffff:10.77.0.1]:2379"):
            with self.subTest(url=url):
                config = self.config({"postgres": "host=127.0.0.1 port=1"}, {"etcd": [url]})
                self.assertEqual(self.run_musterd("check-config", "--config", config).returncode, 2)

    def test_half_an_identity_is_not_passed_over_in_silence(self):
        client = self.own.leaf("muster")
        url = f"https://{self.attacker.address}:2379"
        for half in ({"etcd_key": str(client.key)}, {"etcd_cert": str(client.cert)}, {"etcd_user": "muster"},
                     {"etcd_cert": str(client.cert), "etcd_key": str(self.other.leaf("muster").key)}):
            with self.subTest(half=half):
                config = self.config({"postgres": "host=127.0.0.1 port=1"},
                                     {"etcd": [url], "etcd_ca": str(self.own.ca), **half})
                self.assertEqual(self.run_musterd("check-config", "--config", config).returncode, 2)

    def addresses(self):
        """Ways to say that the database is at the attacker's, without a verified certificate."""
        there = self.attacker.address
        return [f"postgres://muster@{there}/muster", f"postgres://muster@{there}/muster?sslmode=require",
                f"host={there} user=muster dbname=muster sslmode=prefer", f"host=localhost hostaddr={there} user=muster",
                f"host=127.0.0.1,{there} port=1,5432 user=muster", f"postgres://muster@localhost:1,{there}:5432/muster",
                f"postgres:///muster?host={there}&user=muster&sslmode=disable",
                f"host={there} sslmode=verify-full sslmode=disable"]

    def test_postgresql_without_a_verified_certificate(self):
        listener = self.listener(5432)
        for address in self.addresses():
            with self.subTest(address=address):
                self.assert_refused(self.config({"postgres": address}), listener)

    def test_commands_beside_the_server(self):
        listener = self.listener(5432)
        address = self.addresses()[0]
        config = self.config({"postgres": address})
        for words in (("backup", self.folder / "b", "--config", config),
                      ("restore", self.backup, "--data", self.folder / "restored", "--config", config),
                      ("store", "copy", "--data", self.data, "--to", address),
                      ("store", "copy", "--config", config)):
            with self.subTest(words=words):
                done = self.run_musterd(*words)
                self.assertEqual((done.returncode, listener.connections, bytes(listener.received)), (2, 0, b""), done)
                self.assertFalse((self.folder / "b").exists() or (self.folder / "restored").exists())

    def test_environment_and_service_files_do_not_lead_there(self):
        listener = self.listener(5432)
        service = self.folder / "pg_service.conf"
        service.write_text(f"[muster]\nhost={self.attacker.address}\nport=5432\nuser=muster\n")
        there, files = self.attacker.address, {"PGSERVICEFILE": str(service)}
        for address, environment in (("host=127.0.0.1 port=5432", {"PGHOSTADDR": there}),
                                     ("dbname=muster", {"PGHOST": there}),
                                     ("dbname=muster", {"PGSERVICE": "muster", **files}),
                                     ("service=muster", files)):
            with self.subTest(address=address, environment=environment):
                done = self.run_musterd("backup", self.folder / "b", "--config", self.config({"postgres": address}),
                                        environment=environment)
                self.assertNotEqual(done.returncode, 0, done)
                self.assertEqual((listener.connections, bytes(listener.received)), (0, b""))

    # In the middle

    def postgres_config(self, mode="verify-full"):
        return self.config({"postgres": f"postgres://muster@{self.attacker.address}/muster?sslmode={mode}"
                                        f"&sslrootcert={self.own.ca}"})

    def test_postgresql_with_a_certificate_of_another_ca_or_for_another_name(self):
        for mode, leaf in (("verify-ca", self.other.leaf("evil", self.attacker.address)),
                           ("verify-full", self.other.leaf("evil", self.attacker.address)),
                           ("verify-full", self.own.leaf("elsewhere", "10.77.0.99"))):
            with self.subTest(mode=mode, leaf=leaf):
                listener = self.listener(5432).as_tls(leaf, postgres=True)
                done = self.run_musterd("backup", self.folder / "b", "--config", self.postgres_config(mode))
                self.assertEqual(done.returncode, 1, done)
                self.assertGreater(listener.connections, 0)
                self.assertEqual(bytes(listener.received), b"")
                listener.close()

    def test_postgresql_that_claims_not_to_know_tls(self):
        listener = self.listener(5432).without_tls()
        for mode in ("verify-ca", "verify-full"):
            with self.subTest(mode=mode):
                # A variable does not talk the server out of it, either.
                done = self.run_musterd("backup", self.folder / "b", "--config", self.postgres_config(mode),
                                        environment={"PGSSLMODE": "disable"})
                self.assertEqual(done.returncode, 1, done)
                self.assertGreater(listener.connections, 0)
                self.assertEqual(bytes(listener.received), b"")

    def test_etcd_with_a_certificate_of_another_ca_or_for_another_name(self):
        client = self.own.leaf("muster")
        etcd = {"etcd": [f"https://{self.attacker.address}:2379"], "etcd_ca": str(self.own.ca),
                "etcd_cert": str(client.cert), "etcd_key": str(client.key)}
        for leaf in (self.other.leaf("evil", self.attacker.address), self.own.leaf("elsewhere", "10.77.0.99")):
            with self.subTest(leaf=leaf):
                listener = self.listener(2379).as_tls(leaf)
                daemon = self.start_musterd(self.config({"postgres": "host=127.0.0.1 port=1"}, etcd))
                wait_until("it tried more than once", lambda: len(listener.refused) >= 3)
                self.assertTrue(daemon.running(), daemon.tail())
                daemon.end()
                self.assertEqual(bytes(listener.received), b"")
                listener.close()

    # The risk that is taken in words

    def test_the_risk_is_taken_in_words_only_and_warned_of(self):
        listener = self.listener(5432)
        config = self.config({"postgres": self.addresses()[0], "let_the_network_read_and_change_records": True})
        checked = self.run_musterd("check-config", "--config", config)
        self.assertEqual(checked.returncode, 0, checked)
        self.assertIn("let_the_network_read_and_change_records", checked.stderr)
        daemon = self.start_musterd(config)
        wait_until("it connects", lambda: listener.connections)
        self.assertIn("let_the_network_read_and_change_records", daemon.log.read_text())


if __name__ == "__main__":
    unittest.main()
