"""Random requests to every operation of api/openapi.yaml: no answer is a 500, and each is as the contract says.

    test_contract_fuzz.py [--seed N] [--requests N] [--tell]    N requests to each operation; --tell prints where the
                                                                server and the schema differ on what is valid
"""

import argparse
import collections
import http.client
import json
import random
import sys
import unittest
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import npm_packages  # noqa: E402
from api_contract import CONTRACT, resolved  # noqa: E402
from contract_client import OPERATIONS  # noqa: E402
from contract_fuzz import Fuzz  # noqa: E402
from contract_proxy import PACKAGES, Raw  # noqa: E402
from json_schemas import pointer, schema_errors, unknown_fields  # noqa: E402
from muster_cluster import SOURCE, ClusterTest, wait_until  # noqa: E402
from server_cluster import ServerCluster  # noqa: E402

ENDLESS = {"stream", "link"}
# They would end the test's own token, host or server.
SPARED = {"revokeToken": {"token": ["nobody", "a b"]}}
DOCUMENTS = [f"apiVersion: muster/v1\nkind: {kind}\nname: {name}\n{text}" for kind, name, text in (
    ("job", "job1", "targets: h1\nstages: [{name: a, script: 'true'}]\n"), ("job", "job2", "stages: []\n"),
    ("host", "h3", "labels: {a: b}\n"), ("group", "g1", "targets: h1\n"),
    ("trigger", "t1", "job: job1\ncron: 0 0 1 1 *\n"), ("trigger", "t2", "job: nobody\nevery: 1h\n"))]
DOCUMENTS += ["", "a: [", "---\n---\n", "é"]


class ContractFuzz(ClusterTest):
    seed, requests, tell = 1, 12, False

    def setUp(self):
        npm_packages.install(SOURCE / "tests/api", PACKAGES)
        self.connection = None
        self.asked = []  # of each call: operation, cases of what was sent, request, answer
        self.addCleanup(lambda: self.connection and self.connection.close())

    def begin(self, cluster):
        self.cluster = cluster
        cluster.add_agents("h1")
        self.run_id = self.cluster.start_run("-t", "h1", "--", "echo hello; exit 3")
        self.cluster.wait_end(self.run_id)
        # Nothing of what is asked for below is executed.
        self.cluster.agents["h1"].end()
        self.cluster.wait_offline("h1")
        for name in ("job1", "h3", "t1"):
            text = next(text for text in DOCUMENTS if f"name: {name}\n" in text)
            answer = self.cluster.http("POST", "/api/v1/documents", {"documents": [{"file": "a.yaml", "text": text}]})
            self.assertEqual(answer.status, 200, answer)
        self.fuzz = Fuzz(random.Random(self.seed), {
            "targets": ["h1", "all", "h*", "h1,h3", "a=b"], "id": [self.run_id, "r2", "r999999", "nonsense", "r1.1"],
            "name": ["h1", "h3", "job1", "t1", "nobody"], "kind": ["job", "host", "trigger"], "host": ["h1", "nobody"],
            "stage": ["command", "a", "nowhere"], "re": ["h.*o", "(", "a{1000}", ""], "text": DOCUMENTS, "job": ["job1"],
            "slot": ["2099-01-01T00:00:00Z"], "server": ["nobody"], "trigger": ["t1"], "number": [1, 2, 10**6, 2**63],
            "sha256": ["0" * 64, "a" * 64, "A" * 64, "0"], "invite": ["0" * 12, "zz"], "freeze": ["f1", "f2"],
            "stdin_base64": ["aGVsbG8K", "!"], "topics": ["nonsense"]})

    def ask(self, method, path, body, headers):
        for attempt in range(2):
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls(),
                                                              timeout=90)
            try:
                self.connection.request(method, path, body=body, headers=headers)
                response = self.connection.getresponse()
                return Raw(response.status, response.headers, response.read())
            except (http.client.HTTPException, ConnectionError):  # it may have been closed after the call before
                self.connection.close()
                self.connection = None
                if attempt == 1:
                    raise

    def request(self, operation):
        """Sends one; keeps with the answer what was sent, each with its schema."""
        cases, query, parts, headers = [], {}, {}, {"Authorization": f"Bearer {self.cluster.token}"}
        for parameter in operation.parameters:
            name, place = parameter["name"], parameter["in"]
            if not parameter.get("required") and self.fuzz.chance(0.6):
                continue
            value = self.fuzz.random.choice(SPARED[operation.id][name]) if name in SPARED.get(operation.id, {}) else \
                self.fuzz.value(parameter["schema"], name)
            if self.fuzz.chance(0.15) and name not in SPARED.get(operation.id, {}):
                value = self.fuzz.spoiled(value)
            text = value if isinstance(value, str) else json.dumps(value)
            is_text = resolved(parameter["schema"]).get("type") == "string"
            if text or place == "path":  # an empty one counts as absent
                cases.append((self.pointer_to(operation, parameter), text if is_text else value))
            if place == "query":
                query[name] = text.encode("utf-8", "surrogatepass")
            elif place == "path":
                parts[name] = urllib.parse.quote(text.encode("utf-8", "surrogatepass") or b"x", safe="")
            else:
                headers[name] = "".join(c for c in text if " " <= c <= "~").strip()
        body = None
        described = operation.described.get("requestBody")
        if described and (described.get("required") or self.fuzz.chance(0.8)):
            kind, content = next(iter(described["content"].items()))
            headers["Content-Type"] = kind
            if kind == "application/json":
                value = self.fuzz.value(content["schema"])
                if self.fuzz.chance(0.4):
                    value = self.fuzz.spoiled(value)
                body = json.dumps(value).encode()
                where = pointer("paths", operation.path, operation.method.lower(), "requestBody", "content", kind, "schema")
                cases.append((where, value))
            else:
                body = self.fuzz.random.randbytes(10)
        path = operation.path.format(**parts) + ("?" + urllib.parse.urlencode(query) if query else "")
        path = path if operation.at_root else CONTRACT["servers"][0]["url"] + path
        self.asked.append((operation, cases, (operation.method, path, body), self.ask(operation.method, path, body, headers)))

    def pointer_to(self, operation, parameter):
        """Where the schema of a parameter stands."""
        for place, holder in ((pointer("paths", operation.path), CONTRACT["paths"][operation.path]),
                              (pointer("paths", operation.path, operation.method.lower()), operation.described)):
            for number, one in enumerate(holder.get("parameters", [])):
                if one is parameter:
                    return f"{place}/parameters/{number}/schema"
        name = next(name for name, one in CONTRACT["components"]["parameters"].items() if one is parameter)
        return f"/components/parameters/{name}/schema"

    def test_on_sqlite(self):
        self.begin(self.new_cluster())
        self.every_answer_is_as_described()

    def test_on_postgresql(self):
        """Which takes other texts, and keeps other numbers."""
        cluster = ServerCluster(servers=1, etcds=1, lease="30s")
        self.addCleanup(cluster.close)
        self._own.append(cluster)
        self.begin(cluster)
        self.every_answer_is_as_described()

    def every_answer_is_as_described(self):
        for operation in OPERATIONS.values():
            if operation.id not in ENDLESS:
                for _ in range(self.requests):
                    self.request(operation)
        wait_until("the server is ready", lambda: self.cluster.http("GET", "/readyz", token=None).status == 200)
        problems = collections.Counter()
        cases, owners = [], []
        for operation, sent, request, answer in self.asked:
            what = f"{operation.id} {answer.status} {request}"
            described = operation.response(answer.status)
            content = (described or {}).get("content", {})
            if described is None or answer.status == 500:
                problems[f"{what}: not described: {answer}"] += 1
            elif answer.body and answer.kind not in content:
                problems[f"{what}: {answer.kind} is not one of {list(content)}"] += 1
            elif answer.kind == "application/json" and answer.body:
                unknown = unknown_fields(answer.json(), content[answer.kind]["schema"])
                if unknown:
                    problems[f"{what}: the contract does not name {unknown}"] += 1
                cases.append((operation.pointer_to(answer.status, answer.kind), answer.json()))
                owners.append(what)
        for what, errors in zip(owners, schema_errors(cases)):
            if errors:
                problems[f"{what}: {errors}"] += 1
        statuses = collections.Counter(answer.status for _, _, _, answer in self.asked)
        print(f"seed {self.seed}: {len(self.asked)} requests, answers {dict(sorted(statuses.items()))}")
        if self.tell:
            self.tell_differences()
        self.assertEqual(sorted(problems), [])

    def tell_differences(self):
        """Requests that fit and were refused with 400, and such that do not and were taken."""
        flat = [case for _, sent, _, _ in self.asked for case in sent]
        errors = iter(schema_errors(flat))
        told = collections.Counter()
        for operation, sent, _, answer in self.asked:
            wrong = [error[:3] for error in [next(errors) for _ in sent] if error]
            if answer.status == 400 and not wrong:
                told[f"{operation.id}: fits, refused: {answer.json()['error']['message'][:160]}"] += 1
            if answer.status < 300 and wrong:
                told[f"{operation.id}: does not fit, taken: {wrong}"[:300]] += 1
        print("\n".join(f"{count:4} {text}" for text, count in sorted(told.items(), key=lambda item: item[0])))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--seed", type=int, default=ContractFuzz.seed)
    parser.add_argument("--requests", type=int, default=ContractFuzz.requests)
    parser.add_argument("--tell", action="store_true")
    options, rest = parser.parse_known_args()
    ContractFuzz.seed, ContractFuzz.requests, ContractFuzz.tell = options.seed, options.requests, options.tell
    unittest.main(verbosity=2, argv=[sys.argv[0], *rest])
