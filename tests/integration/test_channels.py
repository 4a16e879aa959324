"""Channels as their users see them: what was delivered, what was not, and tests of them."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from api_contract import CONTRACT, misfits  # noqa: E402
from http_stub import StubHandler, serve_stub  # noqa: E402
from muster_cluster import ClusterTest, wait_until  # noqa: E402

TOKEN = "correct-horse-battery"


class Receiver(StubHandler):
    """Takes messages, or refuses them with 503 while it is closed."""

    def do_POST(self):
        body = self.content().decode()
        self.server.calls.append((self.path, dict(self.headers), json.loads(body)))
        self.answer(503 if self.server.closed else 200, {"echo": TOKEN})


class Channels(ClusterTest):
    def setUp(self):
        self.world = serve_stub(self, Receiver, calls=[], closed=False)
        self.server_cluster = self.new_cluster("h1", settings={"outside": "{allow: [127.0.0.1]}"})
        self.assertCode(self.server_cluster.muster("secrets", "set", "token", stdin=TOKEN.encode()), 0)
        self.apply(f"""apiVersion: muster/v1
kind: channel
name: ops
description: the people on call
type: webhook
url: {self.world.url}/ops
headers: {{Authorization: Bearer secret:token}}
---
apiVersion: muster/v1
kind: channel
name: chat
type: chat
url: {self.world.url}/chat
---
apiVersion: muster/v1
kind: job
name: deploy
targets: h1
notify: {{on: [succeeded], to: ops}}
stages: [{{name: work, script: 'true'}}]
""")

    def apply(self, text):
        file = self.server_cluster.folder / "documents.yaml"
        file.write_text(text)
        self.assertCode(self.server_cluster.muster("apply", "-f", file), 0)

    def channels(self):
        answer = self.server_cluster.get("/channels")
        schema = CONTRACT["paths"]["/channels"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        self.assertEqual(misfits(answer, schema), [])
        return {one["name"]: one for one in answer["channels"]}

    def start(self):
        run = self.assertCode(self.server_cluster.muster("start", "deploy"), 0).text.strip()
        self.server_cluster.wait_end(run)
        return run

    def test_a_test_message_says_how_it_went(self):
        sent = self.assertCode(self.server_cluster.muster("channels", "test", "ops", "--reason", "new pager"), 0)
        self.assertEqual(sent.text, "ops  delivered (status 200)\n")
        path, headers, body = self.world.calls[0]
        self.assertEqual((path, headers["Authorization"], body["state"]), ("/ops", f"Bearer {TOKEN}", "test"))
        self.assertIn("admin", body["message"])
        self.assertIsNone(body["run"])
        self.assertCode(self.server_cluster.muster("channels", "test", "chat"), 0)
        self.assertIn("test message", self.world.calls[1][2]["text"])
        entry = self.server_cluster.get("/audit", act="channel.test")["entries"][-1]
        self.assertEqual((entry["object"], entry["actor"], entry["reason"]), ("channel ops", "admin", "new pager"))
        # Each is a message of its own for a receiver that looks for repeats.
        self.server_cluster.muster("channels", "test", "ops")
        self.assertNotEqual(headers["Idempotency-Key"], self.world.calls[2][1]["Idempotency-Key"])
        self.world.closed = True
        refused = self.assertCode(self.server_cluster.muster("channels", "test", "ops"), 1)
        self.assertIn("503", refused.complaint)
        self.assertNotIn(TOKEN, refused.complaint)
        answer = self.server_cluster.muster("channels", "test", "ops", "-o", "json")
        self.assertEqual((answer.code, answer.json()["delivered"], answer.json()["status"]), (1, False, 503))
        schema = CONTRACT["paths"]["/channels/{name}/test"]["post"]["responses"]["200"]["content"]["application/json"]
        self.assertEqual(misfits(answer.json(), schema["schema"]), [])
        # It is about no run, and is not tried again.
        self.assertEqual(self.channels()["ops"]["undelivered"], 0)
        self.assertFalse(self.channels()["ops"]["last_attempt"]["delivered"])

    def test_who_may_and_what_there_is_not(self):
        viewer = self.assertCode(self.server_cluster.muster("tokens", "create", "v", "--role", "viewer"), 0).text.split()[-1]
        self.assertCode(self.server_cluster.muster("channels", "--token", viewer), 0)
        self.assertCode(self.server_cluster.muster("channels", "test", "ops", "--token", viewer), 3)
        self.assertEqual(self.world.calls, [])
        missing = self.assertCode(self.server_cluster.muster("channels", "test", "opps"), 4)
        self.assertIn("did you mean ops?", missing.complaint)

    def test_address_that_is_not_allowed_is_said(self):
        self.apply("apiVersion: muster/v1\nkind: channel\nname: far\ntype: webhook\nurl: http://127.0.0.2:9/\n")
        refused = self.server_cluster.muster("channels", "test", "far", "-o", "json")
        self.assertEqual((refused.code, refused.json()["state"], refused.json()["status"]), (1, "refused", None))

    def test_deliveries_and_what_was_not_delivered(self):
        self.assertIsNone(self.channels()["ops"]["last_delivery"])
        self.start()
        wait_until("the channel was told", lambda: self.channels()["ops"]["last_delivery"])
        self.assertEqual((self.channels()["ops"]["undelivered"], self.channels()["ops"]["type"]), (0, "webhook"))
        self.assertIsNone(self.channels()["chat"]["last_delivery"])
        self.world.closed = True
        run = self.start()
        wait_until("the channel did not take it", lambda: self.channels()["ops"]["undelivered"] == 1)
        self.assertFalse(self.channels()["ops"]["last_attempt"]["delivered"])
        self.assertEqual(self.server_cluster.get("/status")["notices"]["undelivered"], 1)
        self.assertRegex(self.assertCode(self.server_cluster.muster("status"), 0).text, r"(?m)^notices +1 undelivered")
        shown = self.assertCode(self.server_cluster.muster("channels"), 0).text
        self.assertRegex(shown, r"(?m)^ops +webhook .*; failed .*503.* 1, since .* the people on call$")
        self.assertRegex(shown, r"(?m)^chat +chat +- +0")
        why = self.server_cluster.get(f"/runs/{run}/why")
        schema = CONTRACT["paths"]["/runs/{id}/why"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        self.assertEqual(misfits(why, schema), [])
        self.assertEqual([(one["channel"], one["state"]) for one in why["notices"]], [("ops", "succeeded")])
        self.assertIn("503", why["notices"][0]["reason"])
        self.assertIn("channel ops was not notified", self.assertCode(self.server_cluster.muster("why", run), 0).text)
        # It is on record: another leader knows it too, and the channel takes it in the end.
        self.server_cluster.restart_server()
        self.assertEqual(self.channels()["ops"]["undelivered"], 1)
        self.world.closed = False
        wait_until("it was delivered", lambda: self.channels()["ops"]["undelivered"] == 0)
        self.assertEqual(self.server_cluster.get(f"/runs/{run}/why")["notices"], [])
        self.assertNotIn("notices", self.assertCode(self.server_cluster.muster("status"), 0).text)
        self.assertIn("muster_notices_undelivered 0", self.server_cluster.http("GET", "/metrics", token=None).body.decode())

    def test_channels_are_listed_by_name(self):
        self.assertEqual(self.server_cluster.muster("channels", "-o", "names").text, "chat\nops\n")
        page = self.server_cluster.get("/channels", limit=1)
        self.assertEqual(([one["name"] for one in page["channels"]], page["next"]), (["chat"], "chat"))
        page = self.server_cluster.get("/channels", limit=1, cursor="chat")
        self.assertEqual([one["name"] for one in page["channels"]], ["ops"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
