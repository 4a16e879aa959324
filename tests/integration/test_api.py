"""The HTTP API as it is described: every operation answers as api/openapi.yaml says, and nothing else is
let in."""

import http.client
import json
import re
import socket
import ssl
import stat
import sys
import threading
import unittest
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, SOURCE, ClusterTest, wait_until  # noqa: E402

CONTRACT = yaml.safe_load((SOURCE / "api/openapi.yaml").read_text())
METHODS = ("get", "put", "post", "patch", "delete")
ERROR_FIELDS = {"code", "message", "params", "details", "request_id"}


def operations():
    """(method, path as served, operation) of everything the contract describes."""
    for path, item in CONTRACT["paths"].items():
        prefix = item.get("servers", CONTRACT["servers"])[0]["url"].rstrip("/")
        for method in METHODS:
            if method in item:
                yield method.upper(), prefix + path, item[method]


def resolved(part):
    """The part itself, or what its $ref names."""
    while isinstance(part, dict) and "$ref" in part:
        target = CONTRACT
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        part = target
    return part


def misfits(value, schema, where="body"):
    """What in a JSON value differs from its schema: as much of JSON Schema as the contract uses."""
    schema = resolved(schema)
    found = []
    for part in schema.get("allOf", []):
        found += misfits(value, part, where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    tests = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list),
             "string": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool),
             "integer": lambda v: isinstance(v, int) and not isinstance(v, bool), "null": lambda v: v is None}
    if kinds and not any(tests[kind](value) for kind in kinds):
        return [f"{where}: {value!r} is not {kinds}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not one of {schema['enum']}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not look like {schema['pattern']}")
    if schema.get("format") == "date-time" and value is not None and \
            not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        found.append(f"{where}: {value!r} is not a time")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{where}: no {name}" for name in schema.get("required", []) if name not in value]
        more = schema.get("additionalProperties")
        for name, inner in value.items():
            if name in known:
                found += misfits(inner, known[name], f"{where}.{name}")
            elif isinstance(more, dict):
                found += misfits(inner, more, f"{where}.{name}")
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += misfits(inner, schema.get("items", {}), f"{where}[{index}]")
    return found


class EventStream:
    """Server-sent events, read as they come."""

    def __init__(self, cluster, topics):
        self._connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=60)
        self._connection.request("GET", f"/api/v1/stream?topics={topics}",
                                 headers={"Authorization": f"Bearer {cluster.token}"})
        self.response = self._connection.getresponse()
        self.events = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        name = number = None
        try:
            for raw in self.response:
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    self.events.append((name, number, json.loads(line[6:])))
                    name = number = None
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            return  # closed by the test

    def of(self, name):
        return [data for kind, _, data in list(self.events) if kind == name]

    def close(self):
        if self._connection.sock:
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)
        self.response.close()
        self._connection.close()


class ApiTest(ClusterTest):
    hosts = ("h1",)

    def assertError(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertIn("application/json", answer.headers["Content-Type"])
        self.assertEqual(set(answer.json()), {"error"}, answer)
        error = answer.json()["error"]
        self.assertEqual(set(error), ERROR_FIELDS, answer)
        self.assertEqual(error["code"], code, answer)
        self.assertTrue(error["message"])


class Contract(ApiTest):
    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.run_id = cls.cluster.start_run("-t", "h1", "--", "echo hello; echo oops >&2; exit 3")
        cls.cluster.wait_end(cls.run_id)

    BODIES = {
        "startRun": {"targets": "h1", "command": {"argv": ["true"]}},
        "resolveTargets": {"targets": "all"},
        "createInvite": {"uses": 2, "labels": {"zone": "sh1"}},
        "join": {"token": "mj1.no.such", "name": "h9", "request_pem": "none"},
    }
    QUERIES = {"readLog": "?host=h1", "whyRun": "?host=h1"}

    def call(self, method, path, operation, **more):
        path = path.replace("{id}", self.run_id).replace("{name}", "h1")
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
        expected = {"startRun": 201, "createInvite": 201, "stopRun": 409, "link": 403}
        for method, path, operation in operations():
            name = operation["operationId"]
            if name == "stream":
                continue  # endless; has tests of its own
            with self.subTest(operation=name):
                answer = self.call(method, path, operation)
                if name == "join":
                    self.assertIn(answer.status, (400, 401), answer)
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
            if "{" not in path:
                continue
            with self.subTest(operation=operation["operationId"]):
                gone = path.replace("{id}", "r999999").replace("{name}", "nobody")
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
                link.sendall(b"POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n"
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


class Streams(ApiTest):
    def stream(self, topics):
        stream = EventStream(self.cluster, topics)
        self.addCleanup(stream.close)
        self.assertEqual(stream.response.status, 200)
        self.assertIn("text/event-stream", stream.response.headers["Content-Type"])
        return stream

    def test_snapshot_then_output_task_and_end(self):
        gate = self.cluster.folder / "stream-gate"
        run = self.cluster.start_run("-t", "h1", "--", f"until test -e {gate}; do sleep 0.05; done; echo hello; exit 4")
        self.cluster.wait_task(run, "h1", "running")
        stream = self.stream(f"run:{run},log:{run}")
        wait_until("the snapshot comes", lambda: stream.events)
        name, number, first = stream.events[0]
        self.assertEqual((name, first["id"], first["state"], first["counts"]), ("run", run, "running", {"running": 1}))
        self.assertIsInstance(number, int)
        gate.touch()
        wait_until("the end comes", lambda: [event for event in stream.of("run") if event["state"] == "failed" and
                                             event["logs_open"] == 0])
        tasks = stream.of("task")
        self.assertEqual([(task["host"], task["state"], task["exit_code"]) for task in tasks], [("h1", "failed", 4)])
        self.assertEqual([log["data_base64"] for log in stream.of("log")], ["aGVsbG8K"])
        for kind, schema in (("run", "RunEvent"), ("task", "TaskEvent"), ("log", "LogEvent")):
            for event in stream.of(kind):
                self.assertEqual(misfits(event, CONTRACT["components"]["schemas"][schema]), [])
        self.assertEqual(stream.of("run")[-1]["exit_code"], 1)

    def test_snapshot_of_an_ended_run(self):
        run = self.cluster.start_run("-t", "h1", "--", "true")
        self.cluster.wait_end(run)
        stream = self.stream(f"run:{run}")
        wait_until("a first event comes", lambda: stream.events)
        name, _, first = stream.events[0]
        self.assertEqual((name, first.get("state"), first.get("counts")), ("run", "succeeded", {"succeeded": 1}))

    def test_unknown_run_is_told(self):
        stream = EventStream(self.cluster, "run:r999999")
        self.addCleanup(stream.close)
        if stream.response.status == 200:
            wait_until("a first event comes", lambda: stream.events)
            self.assertEqual(stream.events[0][0], "reset")
        else:
            self.assertEqual(stream.response.status, 404)


class Secrets(ApiTest):
    def test_certificate_verifies_against_the_ca(self):
        for name in ("127.0.0.1", "localhost"):
            context = ssl.create_default_context(cafile=self.cluster.data / "ca.pem")
            with context.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30),
                                     server_hostname=name) as link:
                self.assertEqual(link.version(), "TLSv1.3")

    def test_certificate_does_not_verify_for_others(self):
        for context, name in ((ssl.create_default_context(), "127.0.0.1"), (self.cluster.tls(), "muster.example")):
            with self.assertRaises(ssl.SSLCertVerificationError):
                context.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port), 30), server_hostname=name)

    def test_link_needs_a_certificate(self):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        for headers in (None, upgrade):
            answer = self.cluster.http("GET", "/api/v1/link", headers=headers)
            self.assertEqual(answer.status, 403, answer)
            self.assertEqual(answer.json()["error"]["code"], "denied")

    def test_link_takes_only_certificates_of_its_ca(self):
        other = self.new_cluster("stranger")
        context = self.cluster.tls()
        data = other.agents["stranger"].data
        context.load_cert_chain(data / "agent.crt", data / "agent.key")
        # TLS 1.3 tells a client of its refusal only with the first read.
        with self.assertRaises((ssl.SSLError, OSError, http.client.HTTPException, AssertionError)):
            connection = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=context, timeout=30)
            self.addCleanup(connection.close)
            connection.request("GET", "/api/v1/link")
            self.assertLess(connection.getresponse().status, 400)

    def test_secrets_are_readable_only_by_their_owner(self):
        def mode(path):
            return stat.S_IMODE(path.stat().st_mode)

        self.assertEqual(mode(self.cluster.data), 0o700)
        for name in ("admin.token", "ca.key", "server.key"):
            self.assertEqual(mode(self.cluster.data / name), 0o600, name)
        agent = self.cluster.agents["h1"].data
        self.assertEqual(mode(agent / "agent.key"), 0o600)
        self.assertEqual(mode(agent) & 0o066, 0)

    def test_task_files_are_not_readable_by_others(self):
        run = self.cluster.start_run("-t", "h1", "--env", "SECRET=x", "--", "echo private; sleep 1000")
        self.cluster.wait_task(run, "h1", "running")
        folder, = self.cluster.agents["h1"].tasks()
        wait_until("output is in the spool", (folder / "out").exists)
        for file in folder.iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode) & 0o077, 0, file)
        self.assertEqual(self.cluster.muster("kill", run).code, 0)
        self.cluster.wait_end(run)

    def test_token_does_not_show_in_logs(self):
        self.cluster.http("GET", "/api/v1/runs")
        self.assertNotIn(self.cluster.token, self.cluster.server.log.read_text())

    def test_join_token_is_used_up(self):
        cluster = self.new_cluster()
        token = cluster.invite(uses=1)

        def join(name):
            return cluster.add_daemon(name, [BIN / "muster-agent", "--server", cluster.url, "--name", name, "--data",
                                             cluster.folder / name], {"MUSTER_JOIN": token})

        join("one")
        cluster.wait_online("one")
        second = join("two")
        self.assertEqual(second.process.wait(DEADLINE), 3)
        self.assertIn("used up", second.tail())
        self.assertEqual(cluster.online(), {"one"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
