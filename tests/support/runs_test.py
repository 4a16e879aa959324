"""What tests of runs share: three hosts, and short ways to start something on them."""

import hashlib

from muster_cluster import ClusterTest


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class RunsTest(ClusterTest):
    """Three hosts: web1 and web2 in zone sh1, db1 in zone sh2."""

    hosts = ("web1", "web2", "db1")

    @classmethod
    def set_up_hosts(cls):
        for name in cls.hosts:
            cls.cluster.add_agent(name, labels={"zone": "sh2" if name == "db1" else "sh1", "app": name[:-1]})
        cls.cluster.wait_online(*cls.hosts)

    def run_on(self, targets, *words, **more):
        return self.cluster.muster("run", "-t", targets, *words, **more)

    def document(self, targets, *words, code=0):
        return self.assertCode(self.run_on(targets, "-o", "json", *words), code).json()

    def host_of(self, targets, *words, code=0):
        """The one host's part of the result."""
        hosts = self.document(targets, *words, code=code)["hosts"]
        self.assertEqual(len(hosts), 1)
        return hosts[0]

    def run_ids(self):
        return [run["id"] for run in self.assertCode(self.cluster.muster("runs", "-o", "json", "--limit", 500), 0)
                .json()["runs"]]

    def assertNothingStarted(self, code, *words):
        before = self.run_ids()
        outcome = self.assertCode(self.cluster.muster(*words), code)
        self.assertTrue(outcome.complaint.strip(), outcome)
        self.assertEqual(outcome.out, b"")
        self.assertEqual(self.run_ids(), before)
        return outcome
