"""The HTTP API as it is described: every operation answers as api/openapi.yaml says, and nothing else is
let in."""

import hashlib
import http.client
import re
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from api_contract import CONTRACT, ERROR_FIELDS, ApiTest, misfits, operations, resolved  # noqa: E402
from muster_cluster import SOURCE  # noqa: E402

# Named like the host, as operations with a {name} are called with that.
JOB = """apiVersion: muster/v1
kind: job
name: h1
targets: h1
stages:
  - name: say
    script: {file: a.sh}
"""

TRIGGER = """apiVersion: muster/v1
kind: trigger
name: h1
cron: 0 0 1 1 *
job: h1
overlap: {rule: allow, most: 10}
"""


class Contract(ApiTest):
    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.run_id = cls.cluster.start_run("-t", "h1", "--", "echo hello; echo oops >&2; exit 3")
        cls.cluster.wait_end(cls.run_id)
        assert cls.cluster.muster("tokens", "create", "ci", "--role", "viewer").code == 0

        answer = cls.cluster.http("POST", "/api/v1/documents",
                                  {"documents": [{"file": "t.yaml", "text": JOB + "---\n" + TRIGGER,
                                                  "attachments": {"a.sh": "true\n"}}]})
        assert answer.status == 200, answer

    BODIES = {
        "createToken": {"name": "alice", "role": "operator", "expires_ms": 1000000},
        "startRun": {"targets": "h1", "command": {"argv": ["true"]}},
        "labelHosts": {"targets": "h1", "set": {"zone": "sh1"}},
        "resolveTargets": {"targets": "all"},
        "freeze": {"scope": "events", "reason": "contract"},
        "maintainHosts": {"targets": "h1", "end": True},
        "createInvite": {"uses": 2, "labels": {"zone": "sh1"}},
        "createServerInvite": {"name": "s9"},
        "joinServer": {"token": "mj1.no.such", "name": "s9", "box_key": "none"},
        "raiseServerLog": {"level": "info", "for_ms": 1000},
        "writeArtifact": b"hello",
        "retryRun": {"from": "nowhere"},
        "skipStage": {"stage": "command"},
        "setRun": {"concurrency": 1},
        "applyDocuments": {"documents": [{"file": "h1.yaml", "text": JOB, "attachments": {"a.sh": "true\n"}}]},
        "skipSlot": {"slot": "2099-01-01T00:00:00Z"},
        "backfillTrigger": {"from": "2020-12-01T00:00:00Z", "to": "2021-02-01T00:00:00Z"},
        "setSecret": {"value_base64": "aHVudGVyMg=="},
        "join": {"token": "mj1.no.such", "name": "h9", "request_pem": "none"},
    }
    HOSTS = {"revokeHost": "nobody"}  # the others need h1 as it is
    QUERIES = {"readLog": "?host=h1", "searchLogs": "?re=hello", "whyRun": "?host=h1", "listDocuments": "?kind=job"}

    def call(self, method, path, operation, **more):
        host = self.HOSTS.get(operation["operationId"], "h1")
        for part, value in (("id", self.run_id), ("name", host), ("kind", "job"), ("token", "ci"), ("number", "1"), ("freeze", "f999999"), ("server", "s9"), ("invite", "0" * 12),
                            ("sha256", hashlib.sha256(b"hello").hexdigest())):
            path = path.replace("{" + part + "}", value)
        body = self.BODIES.get(operation["operationId"])
        return self.cluster.http(method, path + self.QUERIES.get(operation["operationId"], ""), body, **more)

    def assertDescribed(self, answer, operation):
        described = resolved(operation["responses"].get(str(answer.status)))
        self.assertIsNotNone(described, f"{answer.status} is not described: {answer}")
        kind = (answer.headers["Content-Type"] or "").split(";")[0]
        content = described.get("content", {})
        if content:
            self.assertIn(kind, content)
        if kind == "application/json":
            self.assertEqual(misfits(answer.json(), content[kind]["schema"]), [])
        for header in described.get("headers", {}):
            if answer.status < 300:
                self.assertIsNotNone(answer.headers[header], f"no header {header}")

    def test_every_operation_answers_as_described(self):
        expected = {"startRun": 201, "createInvite": 201, "createServerInvite": 201, "createToken": 201,
                    "drainServer": 404, "undrainServer": 404, "stopRun": 409, "link": 403,
                    "acceptJoin": 404, "rejectJoin": 404, "revokeHost": 404, "removeHost": 409,
                    "readArtifact": 404, "writeArtifact": 201, "startJob": 201, "rerunRun": 201, "pauseRun": 409, "resumeRun": 409,
                    "retryRun": 404, "skipStage": 409, "setRun": 409, "approveRun": 409, "rejectRun": 409,
                    "fireTrigger": 201, "freeze": 201, "testChannel": 404, "thaw": 404, "revokeInvite": 404}
        for method, path, operation in operations():
            name = operation["operationId"]
            if name == "stream":
                continue  # endless; has tests of its own
            with self.subTest(operation=name):
                answer = self.call(method, path, operation)
                if name in ("join", "joinServer"):
                    self.assertEqual(answer.status, 400, answer)
                else:
                    self.assertEqual(answer.status, expected.get(name, 200), answer)
                self.assertDescribed(answer, operation)

    def test_json_of_lists_fits_with_content(self):
        self.assertTrue(self.cluster.get("/runs")["runs"])
        log = self.cluster.http("GET", f"/api/v1/runs/{self.run_id}/log?host=h1", headers={"Accept": "application/json"})
        schema = CONTRACT["paths"]["/runs/{id}/log"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        self.assertEqual(misfits(log.json(), schema), [])
        self.assertEqual((log.json()["next"], log.json()["state"]), (11, "complete"))

    def test_privileges_are_enforced(self):
        for method, path, operation in operations():
            with self.subTest(operation=operation["operationId"]):
                self.assertIn("x-privilege", operation)
                if operation["x-privilege"] in ("public", "join", "link"):
                    self.assertEqual(operation["security"], [])
                    if operation["x-privilege"] == "public":
                        self.assertEqual(self.call(method, path, operation, token=None).status, 200)
                    continue
                self.assertError(self.call(method, path, operation, token=None), 401, "unauthenticated")
                self.assertError(self.call(method, path, operation, token="wrong"), 401, "unauthenticated")
                self.assertError(self.call(method, path, operation, token=self.cluster.token + "x"), 401,
                                 "unauthenticated")

    def test_served_description_is_the_contract(self):
        self.assertEqual(self.cluster.http("GET", "/api/v1/openapi.yaml", token=None).body,
                         (SOURCE / "api/openapi.yaml").read_bytes())

    def test_runs_and_hosts_that_are_not_there(self):
        for method, path, operation in operations():
            if "{" not in path or operation["operationId"] in ("writeArtifact", "setSecret"):
                continue
            with self.subTest(operation=operation["operationId"]):
                gone = path.replace("{id}", "r999999").replace("{name}", "nobody").replace("{token}", "nobody") \
                    .replace("{number}", "999999").replace("{sha256}", "0" * 64).replace("{kind}", "job") \
                    .replace("{freeze}", "f999999").replace("{invite}", "0" * 12)
                answer = self.cluster.http(method, gone + self.QUERIES.get(operation["operationId"], ""))
                self.assertError(answer, 404, "not_found")
                if "{id}" in path:
                    answer = self.cluster.http(method, path.replace("{id}", "nonsense") +
                                               self.QUERIES.get(operation["operationId"], ""))
                    self.assertIn(answer.status, (400, 404), answer)

    def test_states_are_one_byte_each_and_have_a_tag(self):
        answer = self.cluster.http("GET", f"/api/v1/runs/{self.run_id}/states")
        self.assertEqual(answer.body, bytes([5]))
        again = self.cluster.http("GET", f"/api/v1/runs/{self.run_id}/states",
                                  headers={"If-None-Match": answer.headers["ETag"]})
        self.assertEqual((again.status, again.body), (304, b""))

    def test_log_is_read_in_pieces_by_offset(self):
        path = f"/api/v1/runs/{self.run_id}/log?host=h1"
        collected, offset = b"", 0
        for _ in range(20):
            answer = self.cluster.http("GET", f"{path}&from={offset}&limit=4&stream=both")
            self.assertEqual(answer.headers["Muster-Log-State"], "complete")
            collected += answer.body
            following = int(answer.headers["Muster-Next-Offset"])
            if following == offset:
                break
            offset = following
        self.assertEqual((offset, sorted(collected.split())), (11, [b"hello", b"oops"]))
        self.assertEqual(self.cluster.http("GET", path + "&stream=stderr").body, b"oops\n")

    def test_wrong_queries_are_invalid(self):
        for path in ("/runs?limit=0", "/runs?limit=many", "/runs?state=sleepy", "/runs?since=yesterday",
                     "/runs?cursor=nonsense", "/hosts?targets=((", f"/runs/{self.run_id}/tasks?state=sleepy",
                     f"/runs/{self.run_id}/log", f"/runs/{self.run_id}/log?host=h1&stream=third",
                     f"/runs/{self.run_id}/log?host=h1&from=-1", f"/runs/{self.run_id}/groups?by=mood", "/stream",
                     "/stream?topics=nonsense"):
            with self.subTest(path=path):
                self.assertError(self.cluster.http("GET", "/api/v1" + path), 400, "invalid")

    def test_lists_are_read_by_cursor(self):
        for _ in range(3):
            self.cluster.start_run("-t", "h1", "--", "true")
        every = [run["id"] for run in self.cluster.get("/runs", limit=500)["runs"]]
        pages, cursor = [], ""
        for _ in range(len(every) + 1):
            page = self.cluster.get("/runs", limit=2, **({"cursor": cursor} if cursor else {}))
            pages += [run["id"] for run in page["runs"]]
            cursor = page["next"]
            if cursor is None:
                break
        self.assertIsNone(cursor)
        self.assertEqual(pages, every)


class Edges(ApiTest):
    def test_unknown_path_is_404(self):
        for path in ("/", "/nope", "/api/v1/nope", "/api/v1", "/api/v2/runs", "/api/v1/runs/r1/nope",
                     "/api/v1/../../etc/passwd", "/api/v1/runs/%2e%2e"):
            with self.subTest(path=path):
                answer = self.cluster.http("GET", path)
                self.assertIn(answer.status, (400, 404), answer)
                self.assertEqual(set(answer.json()["error"]), ERROR_FIELDS, answer)

    def test_wrong_method_is_405(self):
        for method, path in (("DELETE", "/api/v1/runs"), ("POST", "/api/v1/status"), ("PUT", "/healthz")):
            with self.subTest(path=path):
                self.assertEqual(self.cluster.http(method, path).status, 405)

    def test_garbage_is_400(self):
        for path in ("/api/v1/runs", "/api/v1/hosts/resolve", "/api/v1/agents/invites", "/api/v1/join"):
            for body in (b"{garbage", b"[]", b"\xff\xfe\x00", b'{"a":' * 50):
                with self.subTest(path=path, body=body[:20]):
                    self.assertError(self.cluster.http("POST", path, body), 400, "invalid")

    def test_huge_body_is_413_and_the_server_lives(self):
        with self.subTest("declared"):
            # Only the head is sent: the server must not wait for a body it will not take.
            with self.cluster.tls().wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30),
                                                server_hostname="127.0.0.1") as link:
                link.sendall(b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n"
                             b"Authorization: Bearer " + self.cluster.token.encode() + b"\r\n\r\n")
                self.assertIn(b" 413 ", link.recv(4096))
        self.assertEqual(self.cluster.http("GET", "/healthz", token=None).status, 200)

    def test_broken_http_harms_nobody(self):
        for raw in (b"\x00\x01\x02\x03\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n", b"G" * 200000):
            with self.subTest(raw=raw[:20]):
                with self.cluster.tls().wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30),
                                                    server_hostname="127.0.0.1") as link:
                    try:
                        link.sendall(raw)
                        answer = link.recv(4096)
                    except OSError:
                        answer = b""  # it may hang up
                    self.assertTrue(answer == b"" or re.match(rb"HTTP/1\.[01] [45]\d\d ", answer), answer)
        self.assertEqual(self.cluster.http("GET", "/readyz", token=None).status, 200)

    def test_several_calls_on_one_connection(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls(), timeout=30)
        try:
            for path, status in (("/healthz", 200), ("/api/v1/nope", 404), ("/readyz", 200), ("/metrics", 200)):
                connection.request("GET", path)
                response = connection.getresponse()
                response.read()
                self.assertEqual(response.status, status)
        finally:
            connection.close()

    def test_metrics_are_in_the_text_form(self):
        answer = self.cluster.http("GET", "/metrics", token=None)
        self.assertEqual(answer.status, 200)
        values, kinds = {}, {}
        for line in answer.body.decode().splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                kinds[name] = kind
            elif line and not line.startswith("#"):
                match = re.fullmatch(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^}]*\})? (\S+)", line)
                self.assertIsNotNone(match, line)
                values[match[1]] = float(match[3])
        described = set(re.findall(r"`(muster_[a-z_]+)`", (SOURCE / "docs/operating.md").read_text()))
        self.assertTrue(described)
        self.assertLessEqual(described, set(values))
        self.assertLessEqual(described, set(kinds))
        self.assertEqual((values["muster_leading"], values["muster_hosts"], values["muster_hosts_online"]), (1, 1, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
