"""What the server does itself: requests and messages of stages, and notices of what became of runs."""

import json
import signal
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

TOKEN = "correct-horse-battery"


class Outside(StubHandler):
    """Takes everything; answers with a ticket, or with 503 while it is closed."""

    def do_POST(self):
        body = self.content().decode()
        status = 503 if self.server.closed else 200
        self.server.calls.append((status, self.path, dict(self.headers), body))
        self.answer(status, {"ticket": 7, "echo": TOKEN})


class Calls(ClusterTest):
    def setUp(self):
        self.world = serve_stub(self, Outside, calls=[], closed=False)
        self.url = self.world.url

    def start_cluster(self, allow="127.0.0.1"):
        cluster = self.new_cluster("h1", settings={"outside": f"{{allow: [{allow}]}}"})
        self.assertEqual(cluster.muster("secrets", "set", "token", stdin=TOKEN.encode()).code, 0)
        return cluster

    def apply(self, cluster, job):
        file = cluster.folder / "documents.yaml"
        file.write_text(f"""
apiVersion: muster/v1
kind: channel
name: ops
type: webhook
url: {self.url}/hook
headers: {{Authorization: Bearer secret:token}}
---
apiVersion: muster/v1
kind: job
name: deploy
{job}""")
        outcome = cluster.muster("apply", "-f", file)
        self.assertEqual(outcome.code, 0, outcome)

    def start(self, cluster):
        outcome = cluster.muster("start", "deploy", "-t", "h1")
        self.assertEqual(outcome.code, 0, outcome)
        return outcome.text.strip()

    def paths(self):
        return [(status, path) for status, path, _, _ in self.world.calls]

    def test_request_and_message_with_secrets_and_outputs(self):
        cluster = self.start_cluster()
        self.apply(cluster, f"""
stages:
  - name: ticket
    http:
      method: POST
      url: {self.url}/tickets
      headers: {{X-Token: secret:token}}
      outputs: {{number: /ticket, echo: /echo}}
  - name: tell
    notify: {{to: ops, message: 'ticket ${{{{ stages.ticket.outputs.number }}}} ${{{{ stages.ticket.outputs.echo }}}}'}}
""")
        run = self.start(cluster)
        self.assertEqual(cluster.wait_end(run)["state"], "succeeded", self.world.calls)
        self.assertEqual(self.paths(), [(200, "/tickets"), (200, "/hook")])
        self.assertEqual(self.world.calls[0][2]["X-Token"], TOKEN)
        self.assertEqual(self.world.calls[1][2]["Authorization"], f"Bearer {TOKEN}")
        told = json.loads(self.world.calls[1][3])
        self.assertEqual((told["run"], told["job"], told["message"]), (run, "deploy", "ticket 7 ***"))

    def test_address_that_is_not_allowed_is_refused(self):
        cluster = self.start_cluster(allow="public")
        self.apply(cluster, f"stages: [{{name: ticket, http: {{method: POST, url: '{self.url}/tickets'}}}}]\n")
        run = cluster.wait_end(self.start(cluster))
        self.assertEqual(run["state"], "failed", run)
        self.assertIn("allow", run["stages"][0]["reason"])
        self.assertEqual(self.world.calls, [])

    def test_end_is_told_to_the_channel_that_asked_for_it(self):
        cluster = self.start_cluster()
        self.apply(cluster, "notify: {on: [failed, cancelled], to: ops}\nstages: [{name: work, script: exit 3}]\n")
        run = self.start(cluster)
        wait_until("the channel was told", lambda: self.world.calls)
        told = json.loads(self.world.calls[0][3])
        self.assertEqual((told["run"], told["state"]), (run, "failed"))
        self.assertIn("1 failed", told["message"])
        self.apply(cluster, "notify: {on: [failed, cancelled], to: ops}\nstages: [{name: work, script: exit 0}]\n")
        self.assertEqual(cluster.wait_end(self.start(cluster))["state"], "succeeded")
        self.assertEqual(len(self.world.calls), 1, self.world.calls)

    def test_notice_outlives_the_server_and_the_trouble_of_its_channel(self):
        cluster = self.start_cluster()
        self.world.closed = True
        self.apply(cluster, "notify: {on: succeeded, to: ops}\nstages: [{name: work, script: exit 0}]\n")
        run = self.start(cluster)
        wait_until("the channel was asked", lambda: self.world.calls)
        cluster.restart_server(signal.SIGKILL)
        self.world.closed = False
        wait_until("the channel was told", lambda: (200, "/hook") in self.paths())
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in self.world.calls}
        self.assertEqual(len(keys), 1, "one message has one identity")
        self.assertEqual({json.loads(body)["run"] for _, _, _, body in self.world.calls}, {run})


if __name__ == "__main__":
    unittest.main()
