"""A cluster whose parts are hosts of a network of their own: three servers, three members of etcd, PostgreSQL, agents.

The test program stands on a host, too, the operator's: commands and calls go from there. `cluster.lab` breaks the
network between them.
"""

import contextlib

from backends import Etcd, Postgres
from muster_cluster import BIN, Agent, wait_until
from net_lab import NetLab
from server_cluster import Member, ServerCluster
from test_certificates import Authority

SERVERS, ETCDS = ("s1", "s2", "s3"), ("e1", "e2", "e3")


class NetMember(Member):
    """Asked on its own host, so it also answers while it is cut off."""

    def __init__(self, cluster, name):
        self.host = cluster.lab.host(name)
        super().__init__(cluster, name, self.host.address, 8440)

    def ready(self):
        with self.host.inside():
            return super().ready()

    def leads(self):
        with self.host.inside():
            return super().leads()

    def asked_inside(self, method, path, body=None, **options):
        """An answer to a call from the server's own host."""
        with self.host.inside():
            return self.cluster.at(self).http(method, path, body, **options)


class NetCluster(ServerCluster):
    """`agents`: names of hosts for agents, beside the one for a fleet."""

    def __init__(self, agents=(), settings=None):
        self.lab = NetLab("operator", "pg", *ETCDS, *SERVERS, "fleet", *agents)
        self.journals = []
        self._here = contextlib.ExitStack()
        self._here.enter_context(self.lab.host("operator").inside())
        super().__init__(settings)

    def _make_parts(self):
        pg, etcds = self.lab.host("pg"), [self.lab.host(name) for name in ETCDS]
        authority = Authority(self.folder / "certificates")
        self.postgres = Postgres(self.folder / "postgres", durable=False, port=5432, address=pg.address, authority=authority)
        self.postgres.host = pg
        self.etcd = Etcd(self.folder / "etcd", len(etcds), [2379] * len(etcds) + [2380] * len(etcds),
                         addresses=[host.address for host in etcds], authority=authority)
        for member, host in zip(self.etcd.members, etcds):
            member.host = host
        self.members = [NetMember(self, name) for name in SERVERS]

    @property
    def urls(self):
        return ",".join(member.url for member in self.members)

    def agent_at(self, name, member, host):
        """A new agent on this host of the lab, which begins at this server and is told of all."""
        agent = Agent(self, name, self.folder / name, ("--history", self._journal(name)))
        agent.host = self.lab.host(host)
        self.agents[name] = agent
        self.daemons.append(agent)
        agent.join(server=member.url)
        return agent

    def start_fleet(self, count, prefix):
        token = self.invite(uses=count, replace=True)
        fleet = self.lab.host("fleet").start([BIN / "muster-fleet", "--server", self.urls, "--count", count, "--prefix",
                                              prefix, "--history", self._journal("fleet")],
                                             self.folder / "fleet.log", {"MUSTER_JOIN": token})
        self.daemons.append(fleet)
        wait_until("the fleet is online", lambda: self.get("/status")["online"] >= count)

    def next_leader(self, old):
        return wait_until("another one leads", lambda: next((m for m in self.members if m is not old and m.leads()), None))

    def _journal(self, name):
        self.journals.append(self.folder / f"{name}.jsonl")
        return self.journals[-1]

    def check_history(self):
        """What the servers have on record against what every agent wrote down."""
        words = [word for journal in self.journals if journal.exists() for word in ("--journal", journal)]
        return self.muster("check", "history", "--since", "12h", *words)

    def states(self):
        return {server["name"]: server["state"] for server in self.get("/servers")["servers"]}

    def tails(self):
        """Of the servers, then of the agents that came last: the logs are too many for all."""
        if self._remembered is None:
            shown = [*self.members, *list(self.agents.values())[-3:]]
            return "\n".join(f"--- {daemon.log.name}\n{daemon.tail()}" for daemon in shown)
        return self._remembered

    def close(self):
        super().close()
        self._here.close()
        self.lab.close()
