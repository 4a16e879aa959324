"""Every operation of api/openapi.yaml, driven through a validating proxy (Prism) against two real servers.

contract_drivers (tests/support) has the table of drivers by operationId, and says how to add one. Nothing may break the
contract: no request that the server takes, no answer, no status, no field that the contract does not name.
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from contract_client import OPERATIONS, ContractClient  # noqa: E402
from contract_drivers import DRIVERS, UNDRIVEN  # noqa: E402
from contract_drivers.world import World  # noqa: E402
from contract_proxy import Prism, Raw, Upstream  # noqa: E402
from muster_cluster import Cluster, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

# Of parts of a path.
ABSENT = {"id": "r999999", "number": "999999", "sha256": "0" * 64, "kind": "job", "freeze": "f999999", "invite": "0" * 12}
# Without these, these calls are refused before what they are about is looked for.
QUERIES = {"readLog": {"host": "h1"}, "searchLogs": {"re": "a"}}
# They keep something under any name.
MAKES_WHAT_IS_ABSENT = {"writeArtifact", "setSecret"}


class ContractProxy(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.cluster = ServerCluster(servers=2, etcds=1, lease="10s")
        cls.addClassCleanup(cls.cluster.close)
        try:
            cls.upstream = Upstream(cls.cluster)
            cls.addClassCleanup(cls.upstream.close)
            cls.prism = Prism(cls.cluster.folder, cls.upstream)
            cls.cluster.daemons.append(cls.prism.start())
            cls.cluster.add_agents("h1", "h2")
            cls.prism.wait()
        except BaseException:
            print(cls.cluster.tails(), file=sys.stderr)
            raise
        cls.client = ContractClient(cls.cluster, cls.upstream, cls.prism)
        cls.world = World(cls.client)

    def test_contract(self):
        """In this order, as each part has more answers to look at than the one before."""
        for part in (self.table_is_complete, self.drive, self.refuse, self.every_success_was_driven,
                     self.prism_finds_wrong_answers, self.slow_down, self.nobody_leads):
            with self.subTest(part=part.__name__):
                part()
        errors = {f"{name} {status}" for name, operation in OPERATIONS.items() for status in operation.statuses()
                  if status >= 400 and status not in self.client.driven.get(name, set())}
        print(f"{sum(map(len, self.client.driven.values()))} documented statuses driven, not driven: {sorted(errors)}")
        with self.subTest("nothing breaks the contract"):
            self.assertEqual(self.client.finish(), [])

    def table_is_complete(self):
        self.assertEqual(OPERATIONS.keys() - DRIVERS.keys(), set(),
                         "operations without a driver: tests/support/contract_drivers/__init__.py says how to write one")
        self.assertEqual(DRIVERS.keys() - OPERATIONS.keys(), set(), "drivers of operations that are not there")

    def drive(self):
        for driver in dict.fromkeys(DRIVERS.values()):
            names = [name for name, function in DRIVERS.items() if function is driver]
            with self.subTest(driver=", ".join(names)):
                driver(self.world)

    def refuse(self):
        """What every operation is asked: who may, and what is not there."""
        for name, operation in OPERATIONS.items():
            parts = {part: ABSENT.get(part, "nobody") for part in operation.parts}
            with self.subTest(operation=name):
                if name == "link":
                    continue  # its driver tries them; Prism knows no WebSocket
                if operation.privilege not in ("public", "join"):
                    for bearer in (None, "nonsense"):
                        self.client.call(name, 401, bearer=bearer, **parts)
                if operation.privilege in ("operate", "admin", "transfer"):
                    self.client.call(name, 403, bearer=self.world.viewer, incomplete=True, **parts)
                self.client.call(name, 403, headers={"Origin": "https://elsewhere.example"}, incomplete=True, **parts)
                if parts and name not in MAKES_WHAT_IS_ABSENT:
                    self.client.call(name, 404, query=QUERIES.get(name), incomplete=True, **parts)
                if "id" in parts:
                    self.client.call(name, 400, query=QUERIES.get(name), **{**parts, "id": "nonsense"})
                if "application/json" in operation.described.get("requestBody", {}).get("content", {}):
                    for body in ({"no_such_field": 1}, b"{", b"[]"):
                        # Prism itself refuses what is no JSON.
                        self.client.call(name, 400, body, headers={"Content-Type": "application/json"}, direct=body == b"{",
                                         **self.world.live(operation.path))

    def every_success_was_driven(self):
        missing = {(name, status) for name, operation in OPERATIONS.items() for status in operation.statuses()
                   if status < 400 and status not in self.client.driven.get(name, set())}
        self.assertEqual(missing - UNDRIVEN.keys(), set(), "documented successes that no driver got")
        self.assertEqual(UNDRIVEN.keys() - missing, set(), "driven after all")

    def slow_down(self):
        """Joins from an address that failed too often."""
        one = Cluster({"limits": "{failures_per_minute: 1}"})
        self.addCleanup(one.close)
        self.upstream.cluster = one
        try:
            for name, path, request in (("join", "/api/v1/agents/invites", {"name": "h1", "request_pem": "none"}),
                                        ("joinServer", "/api/v1/servers/invites", {"name": "s1", "box_key": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="})):
                made = one.http("POST", path, {}).json()["token"]
                request["token"] = made.rpartition(".")[0] + "." + "0" * 40
                wait_until("it is slowed down", lambda: self.client.call(name, (403, 429), request, bearer=None).status == 429)
        finally:
            self.upstream.cluster = self.cluster

    def nobody_leads(self):
        """The last part: a server that reaches no leader, and can become none."""
        leader = self.cluster.leader()
        self.cluster.front = next(member for member in self.cluster.members if member is not leader)
        for process in (*self.cluster.etcd.members, leader):
            process.end()
        wait_until("the other one knows", lambda: self.cluster.http("GET", "/readyz", token=None).status == 503)
        unavailable = 0
        for name, operation in OPERATIONS.items():
            if name == "link":
                continue
            parts = {part: ABSENT.get(part, "nobody") for part in operation.parts}
            with self.subTest(operation=name):
                # What stands in the store, and what is about itself, any server answers.
                answer = self.client.call(name, (200, 400, 404, 503), query=QUERIES.get(name), incomplete=True, **parts)
                if answer.status == 503 and name != "isReady":
                    self.assertTrue(answer.headers["Retry-After"], answer)
                    unavailable += 1
        self.assertGreater(unavailable, len(OPERATIONS) / 2)

    def prism_finds_wrong_answers(self):
        """Prism says nothing of a schema that it cannot read: with each answer of JSON it must find a wrong one."""
        try:
            for (name, status), answer in self.client.answers.items():
                if answer.kind != "application/json" or status >= 300:
                    continue
                with self.subTest(operation=name, status=status):
                    operation = OPERATIONS[name]
                    headers = answer.headers
                    self.upstream.instead = Raw(status, headers, json.dumps([answer.json()]).encode())
                    path = operation.path.format(**{part: ABSENT.get(part, "nobody") for part in operation.parts})
                    _, violations = self.prism.ask(operation.method, path, {}, b"")
                    self.assertIn("body", [violation["location"][1] for violation in violations
                                           if violation["location"][0] == "response" and len(violation["location"]) > 1])
        finally:
            self.upstream.instead = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
