"""What a cluster of servers stands on: a PostgreSQL and members of etcd, each a process of its own in a folder.

With an authority (test_certificates.py) both take mutual TLS only: they show a certificate of it and ask for one.
"""

import os
import pwd
import subprocess
from pathlib import Path

from muster_processes import Daemon, free_port, wait_until

POSTGRES = Path("/usr/lib/postgresql/15/bin")


def _as_nobody(words, bound=True):
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return words
    return ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups",
            *(["--pdeathsig", "KILL"] if bound else []), *words]


class Postgres(Daemon):
    """A database of its own. `durable`: every commit reaches the disk. `authority`: mutual TLS, nothing else."""

    def __init__(self, folder, durable=True, port=None, settings=(), bound=True,
                 address="127.0.0.1", authority=None):
        self.bound, self.listens, self.authority = bound, address, authority
        self.folder = Path(folder)
        self.port = port or free_port()
        self.data = self.folder / "data"
        # Without a lock on a socket file: after kill -9 the next start must not be held up by what is left.
        options = ["-c", f"listen_addresses={address}", "-c", f"port={self.port}", "-c", "unix_socket_directories=",
                   "-c", f"fsync={'on' if durable else 'off'}", "-c", "max_connections=200"]
        if authority:
            own = authority.leaf("postgres", address, owner="nobody")
            settings = (*settings, "ssl=on", f"ssl_cert_file={own.cert}", f"ssl_key_file={own.key}",
                        f"ssl_ca_file={authority.ca}")
        for setting in settings:
            options += ["-c", setting]
        super().__init__(_as_nobody([str(POSTGRES / "postgres"), "-D", str(self.data), *options], bound),
                         self.folder.parent / f"{self.folder.name}.log")
        self.address = self.address_of("muster")

    def address_of(self, database):
        plain = f"postgres://muster@{self.listens}:{self.port}/{database}"
        if not self.authority:
            return plain
        client = self.authority.leaf("muster")
        return f"{plain}?sslmode=verify-full&sslrootcert={self.authority.ca}&sslcert={client.cert}&sslkey={client.key}"

    def make(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        done = subprocess.run(_as_nobody([str(POSTGRES / "initdb"), "-D", str(self.data), "-U", "muster", "-A", "trust",
                                          "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]),
                              capture_output=True, check=False, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        assert done.returncode == 0, done.stderr.decode()
        if self.authority:
            (self.data / "pg_hba.conf").write_text("hostssl all all all cert\n")
        self.start()
        self.wait()
        self.sql("CREATE DATABASE muster", database="postgres")
        return self

    def wait(self):
        def answers():
            # After kill -9 it does not start before the processes it left have gone.
            if not self.running():
                self.start()
            return self.sql("SELECT 1", check=False) is not None

        wait_until("PostgreSQL answers", answers)
        return self

    def sql(self, text, database=None, check=True):
        """Rows as lines; None when it does not answer and need not."""
        address = self.address_of(database or ("postgres" if text == "SELECT 1" else "muster"))
        done = subprocess.run(["psql", "-d", address, "-qAtc", text], capture_output=True, check=False)
        if done.returncode != 0:
            assert not check, done.stderr.decode()
            return None
        return done.stdout.decode().splitlines()


class Etcd:
    """Members of one etcd. `authority`: mutual TLS, of the members among each other too."""

    def __init__(self, folder, members=3, ports=None, bound=True, addresses=None, authority=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        ports = ports or [free_port() for _ in range(2 * members)]
        addresses = addresses or ["127.0.0.1"] * members
        scheme, protection = ("https", self._protection(authority, addresses)) if authority else ("http", [])
        self.clients = [f"{scheme}://{address}:{port}" for address, port in zip(addresses, ports[:members])]
        peers = [f"{scheme}://{address}:{port}" for address, port in zip(addresses, ports[members:])]
        # What a server needs to reach it.
        self.settings = {"etcd": self.clients}
        if authority:
            client = authority.leaf("muster")
            self.settings |= {"etcd_ca": str(authority.ca), "etcd_cert": str(client.cert), "etcd_key": str(client.key)}
        everyone = ",".join(f"e{number}={peer}" for number, peer in enumerate(peers, 1))
        self.members = []
        for number, (client, peer) in enumerate(zip(self.clients, peers), 1):
            data = self.folder / f"e{number}"
            self.members.append(Daemon(
                ["/usr/bin/etcd", "--name", f"e{number}", "--data-dir", data, "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", everyone, "--initial-cluster-state", "new",
                 "--heartbeat-interval", "50", "--election-timeout", "500", "--logger", "zap", "--log-level", "error",
                 *protection],
                self.folder.parent / f"etcd{number}.log"))
            self.members[-1].bound = bound

    @staticmethod
    def _protection(authority, addresses):
        own = authority.leaf("etcd", *dict.fromkeys(addresses))
        return ["--cert-file", own.cert, "--key-file", own.key, "--trusted-ca-file", authority.ca, "--client-cert-auth",
                "--peer-cert-file", own.cert, "--peer-key-file", own.key, "--peer-trusted-ca-file", authority.ca,
                "--peer-client-cert-auth"]

    def start(self):
        for member in self.members:
            if not member.running():
                member.start()
        return self
