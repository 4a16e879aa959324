"""What a cluster of servers stands on: a PostgreSQL and members of etcd, each a process of its own in a folder."""

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
    """A database of its own. `durable`: every commit reaches the disk."""

    def __init__(self, folder, durable=True, port=None, settings=(), bound=True,
                 address="127.0.0.1"):
        self.bound, self.listens = bound, address
        self.folder = Path(folder)
        self.port = port or free_port()
        self.data = self.folder / "data"
        # Without a lock on a socket file: after kill -9 the next start must not be held up by what is left.
        options = ["-c", f"listen_addresses={address}", "-c", f"port={self.port}", "-c", "unix_socket_directories=",
                   "-c", f"fsync={'on' if durable else 'off'}", "-c", "max_connections=200"]
        for setting in settings:
            options += ["-c", setting]
        super().__init__(_as_nobody([str(POSTGRES / "postgres"), "-D", str(self.data), *options], bound),
                         self.folder.parent / f"{self.folder.name}.log")
        self.address = f"postgres://muster@{address}:{self.port}/muster"

    def make(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        done = subprocess.run(_as_nobody([str(POSTGRES / "initdb"), "-D", str(self.data), "-U", "muster", "-A", "trust",
                                          "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]),
                              capture_output=True, check=False, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        assert done.returncode == 0, done.stderr.decode()
        with open(self.data / "pg_hba.conf", "a", encoding="utf-8") as rules:
            rules.write("host all all samenet trust\n")
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
        done = subprocess.run(["psql", "-h", self.listens, "-p", str(self.port), "-U", "muster", "-d",
                               database or ("postgres" if text == "SELECT 1" else "muster"), "-qAtc", text],
                              capture_output=True, check=False)
        if done.returncode != 0:
            assert not check, done.stderr.decode()
            return None
        return done.stdout.decode().splitlines()


class Etcd:
    """Members of one etcd."""

    def __init__(self, folder, members=3, ports=None, bound=True, addresses=None):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        ports = ports or [free_port() for _ in range(2 * members)]
        addresses = addresses or ["127.0.0.1"] * members
        self.clients = [f"http://{address}:{port}" for address, port in zip(addresses, ports[:members])]
        peers = [f"http://{address}:{port}" for address, port in zip(addresses, ports[members:])]
        everyone = ",".join(f"e{number}={peer}" for number, peer in enumerate(peers, 1))
        self.members = []
        for number, (client, peer) in enumerate(zip(self.clients, peers), 1):
            data = self.folder / f"e{number}"
            self.members.append(Daemon(
                ["/usr/bin/etcd", "--name", f"e{number}", "--data-dir", data, "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", everyone, "--initial-cluster-state", "new",
                 "--heartbeat-interval", "50", "--election-timeout", "500", "--logger", "zap", "--log-level", "error"],
                self.folder.parent / f"etcd{number}.log"))
            self.members[-1].bound = bound

    def start(self):
        for member in self.members:
            if not member.running():
                member.start()
        return self
