"""Where the time of runs went: the trace of a run, and a collector that is told of each."""

import json
import re
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

CALLER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER_SPAN = "00f067aa0ba902b7"
CALLER = f"00-{CALLER_TRACE}-{CALLER_SPAN}-01"

# OTLP's messages as JSON has them: field, its kind, and whether it must be there. Collectors ignore or refuse others.
TEXT, HEX32, HEX16, NANO, NUMBER = (re.compile(form) for form in
                                    (r".*", r"[0-9a-f]{32}", r"[0-9a-f]{16}", r"\d{19}", r"-?\d+"))
VALUE = {"stringValue": (TEXT, False), "intValue": (NUMBER, False)}
ATTRIBUTE = {"key": (TEXT, True), "value": (VALUE, True)}
SPAN = {"traceId": (HEX32, True), "spanId": (HEX16, True), "parentSpanId": (HEX16, False), "name": (TEXT, True),
        "kind": (int, True), "startTimeUnixNano": (NANO, True), "endTimeUnixNano": (NANO, False),
        "attributes": ([ATTRIBUTE], True), "status": ({"code": (int, True), "message": (TEXT, False)}, False)}
REQUEST = {"resourceSpans": ([{
    "resource": ({"attributes": ([ATTRIBUTE], True)}, True),
    "scopeSpans": ([{"scope": ({"name": (TEXT, True), "version": (TEXT, True)}, True), "spans": ([SPAN], True)}], True)}], True)}


def misfits(value, kind, at=""):
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return [f"{at}: not an object"]
        found = [f"{at}.{name}: missing" for name, (_, needed) in kind.items() if needed and name not in value]
        found += [f"{at}.{name}: unknown" for name in value if name not in kind]
        return found + [more for name in value if name in kind for more in misfits(value[name], kind[name][0], f"{at}.{name}")]
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{at}: not a list"]
        return [more for index, item in enumerate(value) for more in misfits(item, kind[0], f"{at}[{index}]")]
    if kind is int:
        return [] if isinstance(value, int) else [f"{at}: not a number"]
    return [] if isinstance(value, str) and kind.fullmatch(value) else [f"{at}: {value!r}"]


def spans_of(request):
    return [span for resource in request["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]


def about(span):
    return {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}


class Collector(StubHandler):
    """Takes OTLP over HTTP; says 503 while it is closed."""

    def do_POST(self):
        body = self.content()
        world = self.server
        if self.path != "/v1/traces":
            world.calls.append((self.path, dict(self.headers)))
        elif world.closed:
            world.refused += 1
        else:
            request = json.loads(body)
            world.bad += misfits(request, REQUEST)
            world.headers = dict(self.headers)
            world.spans += spans_of(request)
        self.answer(503 if world.closed else 200, {})


class WithCollector(ClusterTest):
    def setUp(self):
        self.world = serve_stub(self, Collector, spans=[], bad=[], calls=[], closed=False, refused=0, headers={})
        self.url = self.world.url

    def tearDown(self):
        self.assertEqual(self.world.bad, [])

    def start_cluster(self, *hosts, more=""):
        return self.new_cluster(*hosts, settings={"traces": f"{{url: {self.url}/v1/traces{more}}}",
                                                  "outside": "{allow: [127.0.0.1]}"})

    def told(self, run):
        """The spans of a run, once the collector has them."""
        def roots():
            return [span for span in list(self.world.spans) if about(span).get("muster.run") == run]
        wait_until(f"the collector is told of {run}", roots)
        trace = roots()[0]["traceId"]
        return {span["name"]: span for span in self.world.spans if span["traceId"] == trace}


class Told(WithCollector):
    def test_each_run_that_ended(self):
        cluster = self.start_cluster("web1", "web2")
        outcome = cluster.muster("run", "-t", "web[1-2]", "--", "sh", "-c", "test $(hostname)x = nowhere")
        self.assertEqual(outcome.code, 1, outcome)
        spans = self.told("r1")
        root = next(span for span in spans.values() if "muster.run" in about(span))
        task = spans["web1"]
        self.assertEqual(about(root)["muster.state"], "failed")
        self.assertEqual(root["status"]["code"], 2)
        self.assertEqual(about(task)["process.exit.code"], "1")
        self.assertGreaterEqual(int(task["startTimeUnixNano"]), int(root["startTimeUnixNano"]))
        self.assertLessEqual(int(task["endTimeUnixNano"]), int(root["endTimeUnixNano"]))
        # Its own command and call tell the same ids.
        shown = self.assertCode(cluster.muster("trace", "r1", "-o", "json"), 0).json()
        self.assertEqual(misfits(shown, REQUEST), [])
        self.assertEqual({span["spanId"] for span in spans_of(shown)}, {span["spanId"] for span in spans.values()})
        metrics = cluster.http("GET", "/metrics").body.decode()
        self.assertRegex(metrics, r"(?m)^muster_traces_sent_total 1$")

    def test_under_its_caller_and_on_to_what_it_calls(self):
        cluster = self.start_cluster("web1")
        job = cluster.folder / "job.yaml"
        job.write_text(f"""
apiVersion: muster/v1
kind: job
name: deploy
stages:
  - {{name: ticket, http: {{method: POST, url: '{self.url}/tickets'}}}}
  - {{name: own, http: {{method: POST, url: '{self.url}/own', headers: {{Traceparent: mine}}}}}}
  - {{name: roll, job: {{name: inner}}}}
---
apiVersion: muster/v1
kind: job
name: inner
stages:
  - {{name: work, script: 'true'}}
""")
        self.assertCode(cluster.muster("apply", "-f", job), 0)
        outcome = cluster.muster("start", "deploy", "-t", "web1", environment={"TRACEPARENT": CALLER})
        run = self.assertCode(outcome, 0).text.strip()
        self.assertEqual(cluster.wait_end(run)["state"], "succeeded")
        wait_until("both runs are told", lambda: {"deploy", "inner"} <= set(self.told(run)))
        spans = self.told(run)
        self.assertEqual({span["traceId"] for span in spans.values()}, {CALLER_TRACE})
        self.assertEqual(spans["deploy"]["parentSpanId"], CALLER_SPAN)
        self.assertEqual(spans["inner"]["parentSpanId"], spans["roll"]["spanId"])
        self.assertEqual(spans["web1"]["parentSpanId"], spans["work"]["spanId"])
        sent = dict(self.world.calls)
        carried = {name.lower(): value for name, value in sent["/tickets"].items()}["traceparent"]
        self.assertRegex(carried, f"^00-{CALLER_TRACE}-[0-9a-f]{{16}}-01$")
        self.assertIn(carried.split("-")[2], {span["spanId"] for span in self.world.spans})
        self.assertEqual({name.lower(): value for name, value in sent["/own"].items()}["traceparent"], "mine")

    def test_a_header_that_is_none_counts_as_none(self):
        cluster = self.start_cluster("web1")
        answer = cluster.http("POST", "/api/v1/runs", {"targets": "web1", "command": {"argv": ["true"]}},
                              headers={"traceparent": "00-what-ever-01"})
        self.assertEqual(answer.status, 201, answer)
        root = next(span for span in self.told(answer.json()["id"]).values() if "muster.run" in about(span))
        self.assertNotIn("parentSpanId", root)

    def test_a_collector_that_was_away_is_told_later(self):
        self.world.closed = True
        cluster = self.start_cluster("web1")
        self.assertCode(cluster.muster("run", "-t", "web1", "--", "true"), 0)
        wait_until("the collector is asked", lambda: self.world.refused)
        wait_until("the log says so", lambda: "traces are not sent" in cluster.server.tail())
        self.world.closed = False
        self.assertIn("web1", self.told("r1"))

    def test_settings_are_taken_over_while_it_runs(self):
        cluster = self.start_cluster("web1")
        headers = cluster.folder / "headers"
        headers.write_text("X-Key: 4711\n")
        settings = cluster.folder / "musterd.yaml"
        before = settings.read_text()
        settings.write_text(before.replace("/v1/traces", f"/v1/traces, headers_file: {cluster.folder}/missing"))
        cluster.server.process.send_signal(signal.SIGHUP)
        wait_until("the log says what is missing", lambda: "what was in force stays" in cluster.server.tail())
        self.assertCode(cluster.muster("run", "-t", "web1", "--", "true"), 0)
        self.told("r1")
        self.assertNotIn("X-Key", self.world.headers)
        settings.write_text(before.replace("/v1/traces", f"/v1/traces, headers_file: {headers}"))
        cluster.server.process.send_signal(signal.SIGHUP)
        wait_until("the log says so", lambda: "traces.headers_file" in cluster.server.tail())

        def carried():
            cluster.muster("run", "-t", "web1", "--", "true")
            return self.world.headers.get("X-Key") == "4711"
        wait_until("the header comes", carried)

    def test_what_waits_is_sent_before_the_server_stops(self):
        cluster = self.start_cluster("web1")
        for _ in range(5):
            self.assertCode(cluster.muster("run", "-t", "web1", "--", "true"), 0)
        cluster.restart_server(how=signal.SIGTERM)
        for run in range(1, 6):
            self.told(f"r{run}")


class Shown(ClusterTest):
    hosts = ("web1", "web2")

    def test_a_run_as_a_tree_with_bars(self):
        outcome = self.cluster.muster("run", "-t", "web[1-2]", "--", "sh", "-c", "sleep 0.3")
        self.assertCode(outcome, 0)
        shown = self.assertCode(self.cluster.muster("trace"), 0)
        lines = shown.text.splitlines()
        self.assertRegex(lines[0], r"^WHAT +STATE +BEGAN +TOOK")
        self.assertRegex(lines[1], r"^r\d+ .*succeeded +\+0 ms +\d.* #+$")
        self.assertRegex(lines[3], r"^    web[12] +succeeded +\+\d.* #+$")
        self.assertRegex(shown.complaint, "trace [0-9a-f]{32}")

    def test_hosts_beyond_those_asked_for_are_counted(self):
        self.assertCode(self.cluster.muster("run", "-t", "web[1-2]", "--", "true"), 0)
        shown = self.assertCode(self.cluster.muster("trace", "--tasks", "1"), 0)
        self.assertIn("… 1 more", shown.text)

    def test_a_run_under_way(self):
        run = self.cluster.start_run("-t", "web1", "--", "sleep", "60")
        self.cluster.wait_task(run, "web1", "running")
        self.assertRegex(self.assertCode(self.cluster.muster("trace", run), 0).text, r"web1 +sent.*>")
        self.assertCode(self.cluster.muster("stop", run), 0)

    def test_an_unknown_run(self):
        self.assertCode(self.cluster.muster("trace", "r999999"), 4)
        self.assertEqual(self.cluster.http("GET", "/api/v1/runs/r1/trace?tasks=10001").status, 400)


if __name__ == "__main__":
    unittest.main()
