#!/usr/bin/env python3
"""The CA of a cluster of three servers is changed as docs/operating.md says, with agents online all the time."""

import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, wait_until  # noqa: E402
from server_cluster import Member, ServerCluster  # noqa: E402

HOSTS = ("h1", "h2")


def ca(member, *words, text=None):
    return subprocess.run([str(BIN / "musterd"), "ca", *words, "--data", str(member.data)], input=text, text=True,
                          capture_output=True, timeout=DEADLINE, check=False)


def signer(member):
    return re.search(r"signs +fact.ca=(\S+)", ca(member, "list").stdout).group(1)


class ChangeOfCa(unittest.TestCase):
    def setUp(self):
        self.cluster = ServerCluster(servers=3, etcds=1, lease="5s")
        self.addCleanup(self.cluster.close)
        self.cluster.add_agents(*HOSTS)
        self.first, self.second, self.third = self.cluster.members

    def done(self, member, *words, text=None):
        outcome = ca(member, *words, text=text)
        self.assertEqual(outcome.returncode, 0, outcome)
        return outcome.stdout

    def refused(self, member, *words):
        outcome = ca(member, *words)
        self.assertEqual(outcome.returncode, 1, outcome)
        return outcome.stderr

    def soon(self, member, *words):
        """A step that is refused until the running server knows that it cuts off nothing."""
        last = []

        def accepted():
            last[:] = [ca(member, *words)]
            return last[0].returncode == 0

        try:
            wait_until(f"{member.name}: musterd ca {words}", accepted)
        except AssertionError as problem:
            raise AssertionError(f"{problem}: {last}") from None

    def restart(self, *members):
        for member in members or self.cluster.members:
            member.end(signal.SIGTERM)
            self.cluster.front = next(one for one in self.cluster.members if one is not member)
            member.start()
            self.cluster.wait_ready()
            self.all_work()

    def all_work(self):
        self.cluster.wait_online(*HOSTS)
        for member in self.cluster.members:
            outcome = self.cluster.at(member).muster("run", "-t", ",".join(HOSTS), "--", "true")
            self.assertEqual(outcome.code, 0, (member.name, outcome))

    def facts(self, name):
        return {self.cluster.get(f"/hosts/{host}")["facts"][name] for host in HOSTS}

    def test_three_servers_get_one_new_ca_and_no_agent_joins_again(self):
        old = signer(self.first)
        wait_until("s2 knows its cluster", lambda: "s1" in self.refused(self.second, "add"))

        wait_until("s1 knows its cluster", lambda: ca(self.first, "add").returncode == 0)
        next_ca = self.done(self.first, "export")
        for member in (self.second, self.third):
            self.done(member, "add", "--from", "/dev/stdin", text=next_ca)
            self.refused(member, "add")
        self.refused(self.first, "use")  # it is not served yet
        self.restart(self.first)
        self.refused(self.first, "use")  # the others do not serve it
        self.no_server_joins()
        self.restart(self.second, self.third)

        self.soon(self.first, "use")
        new = signer(self.first)
        self.assertNotEqual(new, old)
        self.restart(self.first)
        self.refused(self.first, "drop")  # the others sign with the old one
        for member in (self.second, self.third):
            self.soon(member, "use")
            self.restart(member)
        self.assertEqual({signer(member) for member in self.cluster.members}, {new})
        wait_until("the hosts have certificates of the new CA", lambda: self.facts("ca") == {new})

        for member in self.cluster.members:
            self.soon(member, "drop")
            self.restart(member)
        pems = {(member.data / "ca.pem").read_text() for member in self.cluster.members}
        self.assertEqual(len(pems), 1)
        self.assertEqual(pems.pop().count("BEGIN CERT"), 1)
        for host in HOSTS:
            self.assertEqual(self.cluster.agents[host].log.read_text().count(" joined "), 1)

    def no_server_joins(self):
        """The holder of the old CA's key can pass for an admin: the new key must not leave by an invite."""
        stranger = Member(self.cluster, "s4")
        with self.assertRaises(AssertionError):
            self.cluster.join(stranger)
        self.assertFalse((stranger.data / "ca.key").exists())

    def test_two_new_cas_split_nothing(self):
        wait_until("s1 knows its cluster", lambda: ca(self.first, "add").returncode == 0)
        self.done(self.second, "add", "--force")
        self.restart(self.first, self.second)
        for member in (self.first, self.second):
            self.refused(member, "use")
        self.refused(self.third, "add")
        # Taken back on one of them, the change goes on.
        self.soon(self.second, "drop")
        for member in (self.second, self.third):
            self.done(member, "add", "--from", "/dev/stdin", text=self.done(self.first, "export"))
        self.restart(self.second, self.third)
        self.soon(self.first, "use")


if __name__ == "__main__":
    unittest.main()
