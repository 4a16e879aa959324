"""Who may do what, and what is kept of it: tokens, roles, the audit trail."""

import json
import re
import signal
import sqlite3
import sys
import unittest
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import SOURCE, ClusterTest, wait_until  # noqa: E402

CONTRACT = yaml.safe_load((SOURCE / "api/openapi.yaml").read_text())
PEOPLE = (SOURCE / "docs/people.md").read_text()
ROLES = ("viewer", "operator", "admin")


def operations():
    """(method, path) of everything the contract describes."""
    for path, item in CONTRACT["paths"].items():
        prefix = item.get("servers", CONTRACT["servers"])[0]["url"].rstrip("/")
        for method in ("get", "put", "post", "patch", "delete"):
            if method in item:
                yield method.upper(), prefix + path


def documented():
    """What docs/people.md says of each call: {(method, path): {"no token" or role: word}}."""
    table = {}
    for line in PEOPLE.splitlines():
        match = re.fullmatch(r"\| `([A-Z]+) (/\S*)` \|(.*)\|", line)
        if match:
            words = [word.strip() for word in match[3].split("|")]
            table[match[1], match[2]] = dict(zip(("no token", *ROLES), words, strict=True))
    return table


def make_token(cluster, name, role, *more):
    outcome = cluster.muster("tokens", "create", name, "--role", role, *more)
    assert outcome.code == 0, outcome
    return outcome.text.strip()


class Privileges(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        super().set_up_hosts()
        cls.tokens = {role: make_token(cls.cluster, f"a-{role}", role) for role in ROLES}
        cls.run_id = cls.cluster.start_run("-t", "h1", "--", "true")
        cls.cluster.wait_end(cls.run_id)

    def call(self, method, path, token):
        """Calls a route in a way that changes nothing, whoever asks: what is refused is refused before the
        body is looked at, and what is let in finds a body that is wrong or a thing that is not there."""
        place = path.replace("{id}", self.run_id).replace("{name}", "h1").replace("{number}", "1") \
            .replace("{token}", "nobody")
        if path.endswith("/stream"):
            place += "?topics=nonsense"
        body = b"{wrong" if method != "GET" else None
        return self.cluster.http(method, place, body, token=token)

    def expected(self, word, refusal):
        return {"yes": "let in", "no": refusal, "join token": "let in", "certificate": 403}[word]

    def seen(self, answer):
        return answer.status if answer.status in (401, 403) else "let in"

    def test_table_names_every_route_and_no_other(self):
        self.assertEqual(set(documented()), set(operations()))

    def test_every_route_with_every_role_is_as_documented(self):
        for (method, path), row in documented().items():
            for role in ROLES:
                with self.subTest(method=method, path=path, role=role):
                    answer = self.call(method, path, self.tokens[role])
                    self.assertEqual(self.seen(answer), self.expected(row[role], 403), answer)
                    if row[role] == "no":
                        message = answer.json()["error"]["message"]
                        self.assertRegex(message, r"needs the role (operator|admin)")
                        self.assertRegex(message, rf"is an? {role}$")

    def test_every_route_without_a_good_token_is_as_documented(self):
        ended = make_token(self.cluster, "short", "admin", "--expires", "1ms")
        revoked = make_token(self.cluster, "gone", "admin")
        self.assertCode(self.cluster.muster("tokens", "revoke", "gone"), 0)
        said = {None: "no valid token", "mst_wrong": "no valid token", ended: "expired at", revoked: "revoked at"}
        for (method, path), row in documented().items():
            for token, words in said.items():
                with self.subTest(method=method, path=path, token=words):
                    answer = self.call(method, path, token)
                    self.assertEqual(self.seen(answer), self.expected(row["no token"], 401), answer)
                    if answer.status == 401:
                        self.assertEqual(answer.json()["error"]["code"], "unauthenticated")
                        self.assertIn(words, answer.json()["error"]["message"])

    def test_link_messages_are_those_of_the_protocol_and_the_gateway(self):
        frame = re.search(r"message NodeFrame \{(.*?)\}", (SOURCE / "api/link.proto").read_text(), re.S)[1]
        fields = set(re.findall(r"(\w+) = \d+;", frame)) - {"session"}
        code = (SOURCE / "src/server/gateway/privileges.hpp").read_text()
        held = dict(re.findall(r'LinkMessage\{"(\w+)", LinkPrivilege::k(\w+)', code))
        described = dict(re.findall(r"^\| `(\w+)` \| (certified|welcomed)", PEOPLE, re.M))
        self.assertEqual(set(held), fields)
        self.assertEqual({name: word.lower() for name, word in held.items()}, described)

    def test_cli_exits_3_and_says_which_role(self):
        viewer = {"MUSTER_TOKEN": self.tokens["viewer"]}
        outcome = self.cluster.muster("run", "-t", "h1", "--", "true", environment=viewer)
        self.assertCode(outcome, 3)
        self.assertIn("needs the role operator; token 'a-viewer' is a viewer", outcome.complaint)
        self.assertCode(self.cluster.muster("tokens", "list", environment=viewer), 3)
        self.assertCode(self.cluster.muster("hosts", environment=viewer), 0)
        outcome = self.cluster.muster("tokens", "list", environment={"MUSTER_TOKEN": self.tokens["operator"]})
        self.assertIn("needs the role admin; token 'a-operator' is an operator", self.assertCode(outcome, 3).complaint)

    def test_refusals_are_in_the_log_but_not_without_bound(self):
        for _ in range(100):
            self.assertEqual(self.cluster.http("POST", "/api/v1/runs", b"{}", token=self.tokens["viewer"]).status, 403)
        lines = [line for line in self.cluster.server.log.read_text().splitlines() if " denied " in line]
        self.assertTrue(lines)
        self.assertLess(len(lines), 100)
        self.assertIn("a-viewer", "".join(lines))
        self.assertNotIn(self.tokens["viewer"], self.cluster.server.log.read_text())


class Tokens(ClusterTest):
    hosts = ("h1",)

    def muster_as(self, token, *words):
        return self.cluster.muster(*words, environment={"MUSTER_TOKEN": token})

    def test_secret_alone_is_on_stdout_and_works_at_once(self):
        outcome = self.cluster.muster("tokens", "create", "carol", "--role", "operator", "--expires", "90d")
        self.assertCode(outcome, 0)
        self.assertRegex(outcome.text, r"\Amst_[0-9a-f]{48}\n\Z")
        self.assertIn("carol", outcome.complaint)
        token = outcome.text.strip()
        me = self.muster_as(token, "whoami", "-o", "json").json()
        self.assertEqual((me["name"], me["role"], me["server"]), ("carol", "operator", self.cluster.url))
        self.assertRegex(me["expires"], r"^\d{4}-")
        self.assertIn("carol: operator", self.muster_as(token, "whoami").text)
        self.assertCode(self.muster_as(token, "run", "-t", "h1", "--", "true"), 0)
        run = self.cluster.get("/runs", by="carol")["runs"]
        self.assertEqual(len(run), 1)
        for file in self.cluster.data.glob("muster.db*"):
            self.assertNotIn(token.encode(), file.read_bytes())

    def test_names(self):
        make_token(self.cluster, "dave", "viewer")
        self.assertCode(self.cluster.muster("tokens", "create", "dave", "--role", "admin"), 1)
        for name in ("admin", "a b", "../x"):
            self.assertCode(self.cluster.muster("tokens", "create", name, "--role", "viewer"), 2)
        self.assertCode(self.cluster.muster("tokens", "create", "eve", "--role", "king"), 2)
        self.assertCode(self.cluster.muster("tokens", "revoke", "nobody"), 4)
        self.assertCode(self.cluster.muster("tokens", "revoke", "admin"), 1)

    def test_same_idempotency_key_gives_the_same_token_while_it_is_good(self):
        def create(name, key="k1"):
            return self.cluster.http("POST", "/api/v1/tokens", {"name": name, "role": "viewer"},
                                     {"Idempotency-Key": key})
        first = create("keyed")
        self.assertEqual(first.status, 201, first)
        again = create("keyed")
        self.assertEqual((again.status, again.json()), (201, first.json()))
        self.assertEqual(self.cluster.http("GET", "/api/v1/whoami", token=again.json()["token"]).json()["name"], "keyed")
        self.assertEqual(create("keyed", "k2").status, 409)
        other = create("keyed-too")
        self.assertEqual((other.status, other.json()["error"]["code"]), (422, "key_reused"))
        self.assertCode(self.cluster.muster("tokens", "revoke", "keyed"), 0)
        ended = create("keyed")
        self.assertEqual((ended.status, ended.json()["error"]["code"]), (422, "key_reused"))
        self.assertEqual(self.cluster.http("POST", "/api/v1/tokens", {"name": "long", "role": "viewer"},
                                           {"Idempotency-Key": "k" * 129}).status, 400)

    def test_revoked_token_is_refused_at_once_and_its_stream_ends(self):
        token = make_token(self.cluster, "frank", "operator")
        gate = self.cluster.folder / "frank-gate"
        run = self.cluster.start_run("-t", "h1", "--", f"until test -e {gate}; do sleep 0.05; done")
        following = self.cluster.begin("--token", token, "logs", run, "-f")
        wait_until("the stream is open", lambda: "muster_stream_subscribers 1" in
                   self.cluster.http("GET", "/metrics").body.decode())
        self.assertCode(self.cluster.muster("tokens", "revoke", "frank", "--reason", "left"), 0)
        refused = self.muster_as(token, "hosts")
        self.assertCode(refused, 3)
        self.assertIn("'frank' was revoked at", refused.complaint)
        self.assertCode(following.finish(), 3)
        gate.touch()
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        again = make_token(self.cluster, "frank", "viewer")
        self.assertCode(self.muster_as(again, "hosts"), 0)
        self.assertCode(self.muster_as(token, "hosts"), 3)

    def test_tokens_outlive_the_server(self):
        cluster = self.new_cluster()
        good = make_token(cluster, "grace", "viewer")
        bad = make_token(cluster, "heidi", "viewer")
        self.assertCode(cluster.muster("tokens", "revoke", "heidi"), 0)
        cluster.restart_server(signal.SIGKILL)
        self.assertEqual(cluster.http("GET", "/api/v1/whoami", token=good).json()["name"], "grace")
        self.assertEqual(cluster.http("GET", "/api/v1/whoami", token=bad).status, 401)
        listed = {token["name"]: token["state"] for token in cluster.get("/tokens")["tokens"]}
        self.assertEqual(listed, {"grace": "active", "heidi": "revoked"})
        self.assertRegex(cluster.muster("tokens", "list").text, r"heidi +viewer +revoked")


class Trail(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def entries(self, **query):
        return self.cluster.get("/audit", **query)["entries"]

    def test_start_says_who_where_what_and_why(self):
        token = make_token(self.cluster, "alice", "operator")
        script = self.cluster.folder / "long.sh"
        script.write_text("echo first\n" + "# filler\n" * 2000 + "echo last\n")
        outcome = self.cluster.muster("run", "-t", "h[1-3]", "--reason", "ticket 4711", "--script", script,
                                      environment={"MUSTER_TOKEN": token})
        self.assertCode(outcome, 0)
        entry, = self.entries(by="alice", act="run.start")
        self.assertEqual((entry["actor"], entry["reason"], entry["hosts"], entry["names"]),
                         ("alice", "ticket 4711", 3, "h[1-3]"))
        self.assertIn("127.0.0.1", entry["address"])
        self.assertRegex(entry["client"], r"^muster/\S+ \S+@\S+$")
        self.assertTrue(entry["command"].startswith("echo first\n"))
        self.assertNotIn("echo last", entry["command"])
        whole = self.cluster.muster("audit", "show", entry["number"])
        self.assertCode(whole, 0)
        self.assertIn("echo last", whole.text)
        shown = self.cluster.muster("audit", "--by", "alice", "--host", "h2").text
        for words in ("alice  run.start", "on 3 hosts: h[1-3]", "$ echo first", "because ticket 4711"):
            self.assertIn(words, shown)

    def test_stop_is_found_by_the_hosts_it_ended(self):
        gate = self.cluster.folder / "stop-gate"
        run = self.cluster.start_run("-t", "h1,h2", "--", f"test $MUSTER_HOST = h2 || until test -e {gate}; do "
                                                          "sleep 0.05; done")
        self.cluster.wait_task(run, "h2", "succeeded")
        self.assertCode(self.cluster.muster("stop", run, "--reason", "wrong hosts", "--grace", "0"), 0)
        self.cluster.wait_end(run)
        of = {host: [(entry["act"], entry["run"]) for entry in self.entries(host=host) if entry["run"] == run]
              for host in self.hosts}
        self.assertEqual(of, {"h1": [("run.stop", run), ("run.start", run)], "h2": [("run.start", run)], "h3": []})
        stop = self.entries(host="h1", act="run.stop", limit=1)[0]
        self.assertEqual((stop["reason"], stop["hosts"], stop["names"]), ("wrong hosts", 1, "h1"))
        self.assertIn("agent.join", {entry["act"] for entry in self.entries(host="h3")})

    def test_pages_and_times(self):
        every = [entry["number"] for entry in self.entries(limit=500)]
        self.assertEqual(every, sorted(every, reverse=True))
        pages, before = [], None
        while True:
            page = self.cluster.get("/audit", limit=2, **({"before": before} if before else {}))
            pages += [entry["number"] for entry in page["entries"]]
            before = page["next"]
            if before is None:
                break
        self.assertEqual(pages, every)
        third = next(entry for entry in self.entries(limit=500) if entry["number"] == 3)
        since = [entry["number"] for entry in self.entries(limit=500, since=third["at"])]
        self.assertIn(3, since)
        until = [entry["number"] for entry in self.entries(limit=500, until=third["at"])]
        self.assertEqual(sorted(since + until), sorted(every))
        for query in ("host=nobody", "since=yesterday", "limit=0", "before=x"):
            self.assertIn(self.cluster.http("GET", f"/api/v1/audit?{query}").status, (400, 404))

    def test_filters_that_find_nothing_say_so(self):
        self.assertCode(self.cluster.muster("run", "-t", "h1", "--", "true"), 0)
        nothing = self.cluster.muster("audit", "--by", "nobody")
        self.assertCode(nothing, 0)
        self.assertEqual((nothing.text, nothing.complaint.strip()), ("", "no entries"))
        document = self.cluster.muster("audit", "--by", "nobody", "-o", "json")
        self.assertEqual((json.loads(document.text), document.complaint), ({"entries": []}, ""))
        self.assertEqual(self.cluster.muster("audit", "--act", "run.start", "-n", "1").complaint, "")

    def test_runs_and_acts_that_are_not_there_are_refused(self):
        self.assertCode(self.cluster.muster("audit", "--run", "r99999"), 4)
        refused = self.cluster.muster("audit", "--act", "run.starts")
        self.assertCode(refused, 2)
        self.assertIn("run.start, run.stop", refused.complaint)
        for act in re.findall(r"`([a-z]+\.[a-z]+)`", PEOPLE[PEOPLE.index("| about | acts |"):PEOPLE.index("muster audit --host")]):
            self.assertEqual(self.cluster.http("GET", f"/api/v1/audit?act={act}").status, 200, act)

    def test_run_that_retention_dropped_is_found_by_its_entries(self):
        run = self.cluster.start_run("-t", "h1", "--", "true")
        self.cluster.wait_end(run)
        self.cluster.server.end(signal.SIGTERM)
        with sqlite3.connect(self.cluster.data / "muster.db") as database:
            self.assertEqual(database.execute("DELETE FROM run WHERE id = ?", (int(run[1:]),)).rowcount, 1)
        database.close()
        self.cluster.start_server()
        self.cluster.wait_online("h1")
        self.assertEqual(self.cluster.http("GET", f"/api/v1/runs/{run}").status, 404)
        self.assertEqual([entry["run"] for entry in self.entries(run=run)], [run])
        self.assertEqual(self.entries(run=run, by="nobody"), [])

    def test_job_is_named_once_and_starters_are_no_actors(self):
        file = self.cluster.folder / "rel.yaml"
        file.write_text("apiVersion: muster/v1\nkind: job\nname: rel\ntargets: h1\nstages:\n"
                        "  - {name: ask, approve: {message: 'go on?'}}\n")
        self.assertCode(self.cluster.muster("apply", "-f", file), 0)
        run = self.cluster.muster("start", "rel").text.strip()
        wait_until("it waits", lambda: self.cluster.run_of(run)["stages"][0]["state"] == "awaiting_approval")
        self.assertCode(self.cluster.muster("approve", run), 0)
        self.cluster.wait_end(run)
        self.assertEqual(self.cluster.muster("audit", "--run", run, "--act", "run.start").text.count("job rel version 1"), 1)
        approval = self.cluster.muster("audit", "--run", run, "--act", "run.approve").text
        self.assertIn("    job rel version 1\n", approval)
        self.assertIn("    starters admin\n", approval)

    def test_follow_shows_what_happens(self):
        following = self.cluster.begin("audit", "-f", "-n", "1", "-o", "jsonl", "--act", "run.start")
        last = self.entries(limit=1)[0]["number"]
        runs = []

        def followed():
            runs.append(self.cluster.start_run("-t", "h3", "--", "true"))
            return [json.loads(line)["run"] for line in following.said()[0].splitlines()
                    if json.loads(line)["number"] > last]

        seen = wait_until("an entry is followed", followed)
        self.assertEqual(seen, [run for run in runs if run in seen])
        following.process.send_signal(signal.SIGTERM)

    def test_follow_waits_for_a_lost_server(self):
        cluster = self.new_cluster()
        following = cluster.begin("audit", "-f", "--act", "token.create")
        cluster.muster("tokens", "create", "before", "--role", "viewer")
        wait_until("it follows", lambda: "before" in following.said()[0])
        cluster.server.end()
        wait_until("it says so", lambda: "connection lost" in following.said()[1])
        cluster.start_server()
        wait_until("it says so", lambda: "connected again" in following.said()[1])
        cluster.muster("tokens", "create", "after", "--role", "viewer")
        wait_until("it goes on", lambda: "after" in following.said()[0])
        self.assertEqual(following.said()[1].count("connection lost"), 1)
        following.process.send_signal(signal.SIGTERM)

    def test_verify_is_content_and_counts(self):
        outcome = self.cluster.muster("audit", "verify")
        self.assertCode(outcome, 0)
        newest = self.entries(limit=1)[0]
        self.assertIn(newest["hash"], outcome.text)
        self.assertIn(f"up to number {newest['number']}", outcome.text)


class Tampering(ClusterTest):
    def tampered(self, *statements):
        """A cluster whose records were changed while the server was down."""
        cluster = self.new_cluster()
        for number in range(6):
            make_token(cluster, f"t{number}", "viewer")
        self.assertCode(cluster.muster("audit", "verify"), 0)
        cluster.server.end(signal.SIGTERM)
        with sqlite3.connect(cluster.data / "muster.db") as database:
            for statement in statements:
                self.assertGreater(database.execute(statement).rowcount, 0, statement)
        database.close()
        return cluster.start_server()

    def assertBroken(self, cluster, number):
        outcome = cluster.muster("audit", "verify")
        self.assertCode(outcome, 1)
        self.assertIn(f"broken at entry {number}:", outcome.complaint)
        document = cluster.muster("audit", "verify", "-o", "json")
        self.assertCode(document, 1)
        self.assertEqual(document.json()["bad"]["number"], number)

    def test_changed_byte_in_the_file_is_found(self):
        cluster = self.tampered()
        cluster.server.end(signal.SIGTERM)
        file = cluster.data / "muster.db"
        data = file.read_bytes()
        # Entry 3 is the only row with this name in front of its details.
        self.assertEqual(data.count(b"token t2role viewer"), 1)
        file.write_bytes(data.replace(b"token t2role viewer", b"token t2role Viewer"))
        cluster.start_server()
        self.assertBroken(cluster, 3)

    def test_deleted_row_is_found(self):
        self.assertBroken(self.tampered("DELETE FROM audit WHERE number = 4"), 4)

    def test_deleted_end_is_found_also_after_new_entries(self):
        cluster = self.tampered("DELETE FROM audit WHERE number = 6")
        self.assertBroken(cluster, 6)
        make_token(cluster, "later", "viewer")
        self.assertBroken(cluster, 6)

    def test_dropped_front_is_no_break(self):
        cluster = self.tampered("DELETE FROM audit WHERE number < 4")
        outcome = cluster.muster("audit", "verify")
        self.assertCode(outcome, 0)
        self.assertIn("3 entries", outcome.text)
        make_token(cluster, "later", "viewer")
        self.assertIn("4 entries", cluster.muster("audit", "verify").text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
