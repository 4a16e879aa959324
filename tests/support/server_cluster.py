"""Several servers on one PostgreSQL and one etcd, for tests: which of them leads, what happens when one is lost."""

import contextlib
import json
import signal
import subprocess
import time

from backends import Etcd, Postgres
from muster_cluster import Cluster
from muster_processes import BIN, Daemon, free_port, wait_until
from test_certificates import Authority


class Member(Daemon):
    """One musterd of the cluster."""

    def __init__(self, cluster, name, address="127.0.0.1", port=None):
        self.cluster, self.name, self.address = cluster, name, address
        self.data = cluster.folder / name
        self.port = port or free_port()
        self.url = f"https://{address}:{self.port}"
        config = cluster.folder / f"{name}.yaml"
        settings = {**cluster._settings, "data": self.data, "listen": f"{address}:{self.port}", "public_url": self.url,
                    "store": json.dumps({"postgres": cluster.postgres.address}),
                    "cluster": json.dumps({"name": name, **cluster.etcd.settings, **cluster.leases})}
        config.write_text("".join(f"{key}: {value}\n" for key, value in settings.items()))
        super().__init__([BIN / "musterd", "--config", config], cluster.folder / f"{name}.log", cluster.server_environment)

    def ready(self):
        """None when it is, or why it is not."""
        try:
            answer = self.cluster.at(self).http("GET", "/readyz", token=None, timeout=5)
            return None if answer.status == 200 else answer.body.decode().strip()
        except OSError as error:
            return str(error)

    def leads(self):
        """Whether it says so itself."""
        try:
            answer = self.cluster.at(self).http("GET", "/metrics", token=None, timeout=5)
        except OSError:
            return False
        return "\nmuster_leading 1" in answer.body.decode()


class ServerCluster(Cluster):
    """`self.server` is the first of `self.members`; calls and commands go to `self.front`."""

    def __init__(self, settings=None, servers=3, etcds=3, durable=False, lease=None):
        # A long one for tests that time no takeover: the leader stays the leader on a machine that is busy.
        self.leases = {"lease": lease} if lease else {}
        self._servers, self._etcds, self._durable = servers, etcds, durable
        super().__init__(settings)

    def _make_parts(self):
        """Where everything is: all on loopback here, and with TLS all the same."""
        authority = Authority(self.folder / "certificates")
        self.postgres = Postgres(self.folder / "postgres", self._durable, authority=authority)
        self.etcd = Etcd(self.folder / "etcd", self._etcds, authority=authority)
        self.members = [Member(self, f"s{number}") for number in range(1, self._servers + 1)]

    def _first_start(self):
        self._make_parts()
        self.server = self.members[0]
        self.daemons += [*self.members, self.postgres, *self.etcd.members]
        self.data = self.server.data
        self.front = self.server
        self.postgres.make()
        self.etcd.start()
        self.server.start()
        wait_until("the first server leads", lambda: self.server.ready() is None)
        for member in self.members[1:]:
            self.join(member)
            member.start()
        self.wait_ready()

    @property
    def address(self):
        return self.front.address

    @property
    def port(self):
        return self.front.port

    @property
    def url(self):
        return self.front.url

    def at(self, member):
        """The same cluster as seen through another server."""
        return _Through(self, member)

    def join(self, member):
        outcome = self.muster("servers", "invite", "--name", member.name)
        assert outcome.code == 0, outcome
        with member.host.inside() if member.host else contextlib.nullcontext():
            done = subprocess.run([str(BIN / "musterd"), "join", "--server", self.url, "--name", member.name, "--data",
                                   str(member.data)], env={**member.environment, "MUSTER_JOIN": outcome.text.strip()},
                                  capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()

    def wait_ready(self, *members):
        for member in members or self.members:
            wait_until(f"{member.name} is ready", lambda member=member: member.ready() is None)

    def leader(self):
        """The member that leads, once there is one."""
        return wait_until("somebody leads", lambda: next((m for m in self.members if m.running() and m.leads()), None))

    def followers(self):
        leader = self.leader()
        return [member for member in self.members if member is not leader and member.running()]

    def kill_leader(self):
        """Gives the one that was killed, the next one, and how long nobody led, as far as a client sees it."""
        old = self.leader()
        began = time.monotonic()
        old.end(signal.SIGKILL)
        others = [member for member in self.members if member is not old and member.running()]
        if self.front is old:
            self.front = others[0]
        new = wait_until("another one leads", lambda: next((m for m in others if m.leads()), None))
        return old, new, time.monotonic() - began


class _Through:
    """Sends calls of a cluster to one of its servers."""

    def __init__(self, cluster, member):
        self._cluster, self._member = cluster, member

    def __getattr__(self, name):
        attribute = getattr(type(self._cluster), name, None)
        if callable(attribute):
            return attribute.__get__(self)
        return getattr(self._cluster, name)

    @property
    def address(self):
        return self._member.address

    @property
    def port(self):
        return self._member.port

    @property
    def url(self):
        return self._member.url

    @property
    def token(self):
        return self._cluster.token

    @property
    def data(self):
        return self._cluster.data
