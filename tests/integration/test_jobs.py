"""Jobs from their files to their runs, with real processes: applied, started, steered, corrected, deleted; and
the guide in docs/jobs/guide.md, whose every command is carried out."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import BIN, DEADLINE, SOURCE, ClusterTest, wait_until  # noqa: E402

HEAD = "apiVersion: muster/v1\nkind: job\n"


class Jobs(ClusterTest):
    hosts = ("h1", "h2", "h3")

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        self.out = self.folder / "out"
        self.out.mkdir()
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40].rstrip("-")

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def job(self, body, name=None, path="job.yaml"):
        return self.write(path, f"{HEAD}name: {name or self.name}\n{body}")

    def apply(self, *words, code=0, **more):
        return self.assertCode(self.cluster.muster("apply", *words, **more), code)

    def start(self, *words, code=0, **more):
        """The run's document, once it has ended."""
        outcome = self.assertCode(self.cluster.muster("start", *words, "--wait", "-o", "json", **more), code)
        return json.loads(outcome.out)

    def begin(self, *words, **more):
        return self.assertCode(self.cluster.muster("start", *words, **more), 0).text.strip()

    def stages(self, run):
        return {stage["name"]: stage["state"] for stage in run["stages"]}

    def wait_stage(self, run, stage, state):
        return wait_until(f"stage {stage} of {run} is {state}",
                          lambda: self.stages(self.cluster.run_of(run)).get(stage) == state)

    def said(self, name):
        file = self.out / name
        return file.read_text() if file.exists() else ""

    def test_folder_is_applied_and_again_is_unchanged(self):
        self.write("all/greet.yaml", HEAD + f"name: {self.name}-a\nstages:\n  - name: say\n"
                                            "    script: {file: files/say.sh}\n")
        self.write("all/files/say.sh", "echo hello\n")
        self.write("all/more/two.yml", HEAD + f"name: {self.name}-b\nstages: [{{name: say, script: 'true'}}]\n"
                                              "---\n" + "apiVersion: muster/v1\nkind: group\n"
                                              f"name: {self.name}\nhosts: [h1, h2]\n")
        self.write("all/readme.txt", "not a document")
        first = self.apply("-f", self.folder / "all")
        self.assertEqual(sorted(first.text.splitlines()),
                         sorted([f"job {self.name}-a  created (version 1)", f"job {self.name}-b  created (version 1)",
                                 f"group {self.name}  created (version 1)"]), first)
        again = self.apply("-f", self.folder / "all")
        self.assertEqual(again.text.count("unchanged (version 1)"), 3, again)
        self.write("all/files/say.sh", "echo good morning\n")
        changed = self.apply("-f", self.folder / "all", "--dry-run", "--diff").text
        self.assertIn("-echo hello\n+echo good morning\n", changed)
        self.assertIn(f"job {self.name}-a  would be changed (version 2)", changed)
        self.assertEqual(self.apply("-f", self.folder / "all").text.count("changed (version 2)"), 1)
        shown = self.assertCode(self.cluster.muster("get", "job", f"{self.name}-a", "-o", "yaml"), 0)
        self.assertEqual(shown.text, (self.folder / "all/greet.yaml").read_text())
        self.assertIn(f"{self.name}-b", self.assertCode(self.cluster.muster("jobs"), 0).text)
        trail = self.cluster.get("/audit", act="job.apply")["entries"]
        self.assertEqual([entry["detail"] for entry in trail if entry["object"] == f"job {self.name}-a"],
                         ["version 2", "version 1"])

    def test_bad_documents_say_where_and_nothing_is_kept(self):
        good = self.job("stages: [{name: a, script: 'true'}]\n", path="bad/good.yaml")
        bad = self.write("bad/keys.yaml", HEAD + "name: keys\nstages:\n  - name: a\n    scirpt: 'true'\n")
        outcome = self.apply("-f", self.folder / "bad", code=1)
        self.assertRegex(outcome.complaint, re.escape(f"{bad}:6:5: unknown key 'scirpt'"))
        self.assertEqual(self.cluster.muster("get", "job", self.name).code, 4)
        # What only the server can know.
        bad.write_text(HEAD + "name: refers\nnotify: {on: failed, to: nobody}\nstages:\n  - name: a\n"
                              "    job: {name: no-such-job}\n")
        circle = self.write("bad/circle.yaml", HEAD + "name: one\nstages: [{name: a, job: {name: two}}]\n---\n" +
                            HEAD + "name: two\nstages: [{name: a, job: {name: one}}]\n")
        outcome = self.apply("-f", self.folder / "bad", code=1)
        lines = outcome.complaint.splitlines()
        self.assertEqual(len(lines), 3, outcome)
        self.assertTrue(lines[0].startswith(f"{circle}:4:") and "circle" in lines[0], lines)
        self.assertTrue(lines[1].startswith(f"{bad}:4:26: ") and "channel 'nobody'" in lines[1], lines)
        self.assertTrue(lines[2].startswith(f"{bad}:7:17: ") and "no job 'no-such-job'" in lines[2], lines)
        self.assertEqual(self.cluster.muster("get", "job", self.name).code, 4)
        self.assertCode(self.cluster.muster("apply", "-f", self.folder / "nothing.yaml"), 4)
        self.apply("-f", good)

    def test_start_gives_parameters_and_outputs_from_stage_to_stage(self):
        self.write("files/b.sh", 'echo "$1 $MUSTER_PARAM_GREETING" > "$MUSTER_PARAM_DIR/$MUSTER_HOST"\n')
        self.apply("-f", self.job("""
params:
  dir: {required: true}
  greeting: {default: hello, pattern: '^[a-z]+$'}
targets: 'h[1-3]'
stages:
  - name: a
    script: echo "x=from-$MUSTER_HOST" >> "$MUSTER_OUTPUT"
  - name: b
    script: {file: files/b.sh, args: ['${{ stages.a.outputs.x }}']}
"""))
        run = self.start(self.name, "-p", f"dir={self.out}", "-p", "greeting=bonjour")
        self.assertEqual(run["state"], "succeeded", run)
        self.assertEqual(self.stages(run), {"a": "succeeded", "b": "succeeded"})
        for host in self.hosts:
            self.assertEqual(self.said(host), f"from-{host} bonjour\n")
        self.write("value", "salut\n")
        self.start(self.name, "-t", "h2", "-p", f"dir={self.out}", "-p", f"greeting=@{self.folder / 'value'}")
        self.assertEqual((self.said("h1"), self.said("h2")), ("from-h1 bonjour\n", "from-h2 salut\n"))
        for words, what in (([], "needs parameter 'dir'"), (["-p", "dir=x", "-p", "greeting=Hi 1"], "does not match"),
                            (["-p", "dir=x", "-p", "other=1"], "no parameter 'other'"), (["-p", "dir"], "NAME=VALUE")):
            refused = self.assertCode(self.cluster.muster("start", self.name, *words), 2)
            self.assertIn(what, refused.complaint)

    def test_dry_run_and_envelope(self):
        self.apply("-f", self.job("""
params: {token: {type: secret}}
max_hosts: 2
stages:
  - name: roll
    batches: [1]
    between: {wait: 1s}
    script: 'true'
"""))
        plan = self.assertCode(self.cluster.muster("start", self.name, "-t", "h1,h2", "--dry-run", "-o", "json"), 0)
        plan = json.loads(plan.out)
        self.assertEqual((plan["hosts"], plan["names"], plan["version"]), (2, "h[1-2]", 1))
        self.assertEqual(plan["stages"][0]["batches"], [1, 1])
        self.assertEqual(self.cluster.get("/runs", by="nobody")["runs"], [])
        self.assertIn("at most 2 hosts", self.cluster.muster("start", self.name, "-t", "all").complaint)
        self.assertIn("-t", self.assertCode(self.cluster.muster("start", self.name), 2).complaint)
        literal = self.assertCode(self.cluster.muster("start", self.name, "-t", "h1", "-p", "token=hunter2"), 2)
        self.assertNotIn("hunter2", literal.complaint)

    def test_same_key_is_one_run(self):
        self.apply("-f", self.job("targets: h1\nstages: [{name: a, script: 'true'}]\n"))
        answers = [self.cluster.http("POST", f"/api/v1/jobs/{self.name}/start", {}, {"Idempotency-Key": "one"})
                   for _ in range(2)]
        self.assertEqual([answer.status for answer in answers], [201, 201])
        self.assertEqual(answers[0].json()["id"], answers[1].json()["id"])
        self.cluster.wait_end(answers[0].json()["id"])

    def test_second_person_approves(self):
        self.apply("-f", self.job("""
targets: h1
stages:
  - name: go
    approve: {message: 'On ${{ targets.count }} host?', not: starter}
  - name: work
    script: 'true'
"""))
        run = self.begin(self.name)
        self.wait_stage(run, "go", "awaiting_approval")
        self.assertNotEqual(self.cluster.muster("approve", run).code, 0)
        token = self.assertCode(self.cluster.muster("tokens", "create", "bob", "--role", "operator"), 0).text.strip()
        self.assertCode(self.cluster.muster("approve", run, "--token", token.split()[-1]), 0)
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")

    def test_retry_takes_the_corrected_job(self):
        body = """
params: {dir: {required: true}}
targets: 'h[1-2]'
stages:
  - name: first
    script: echo once >> "$MUSTER_PARAM_DIR/first-$MUSTER_HOST"
  - name: second
    script: {file: second.sh}
"""
        self.write("second.sh", "exit 3\n")
        self.apply("-f", self.job(body))
        run = self.start(self.name, "-p", f"dir={self.out}", code=1)
        self.assertEqual(self.stages(run), {"first": "succeeded", "second": "failed"})
        self.write("second.sh", 'echo well > "$MUSTER_PARAM_DIR/second-$MUSTER_HOST"\n')
        self.apply("-f", self.folder / "job.yaml")
        self.assertCode(self.cluster.muster("retry", run["id"], "--version", "latest"), 0)
        ended = wait_until("the second pass ends", lambda: self.passed(run["id"], 2))
        self.assertEqual(ended["state"], "succeeded", ended)
        for host in ("h1", "h2"):
            self.assertEqual((self.said(f"first-{host}"), self.said(f"second-{host}")), ("once\n", "well\n"))

    def passed(self, run, number):
        now = self.cluster.run_of(run)
        return now if now["pass"] == number and now["ended"] else None

    def test_pushed_files_come_with_the_job(self):
        self.write("files/conf/a/b.txt", "bee\n")
        self.write("files/one.txt", "one\n")
        self.apply("-f", self.job(f"""
targets: 'h[1-2]'
stages:
  - name: tree
    push: {{from: files/conf, to: '{self.out}/${{{{ host.name }}}}'}}
  - name: file
    push: {{from: files/one.txt, to: '{self.out}/${{{{ host.name }}}}.txt', mode: '0600'}}
"""))
        self.assertEqual(self.start(self.name)["state"], "succeeded")
        for host in ("h1", "h2"):
            self.assertEqual((self.said(f"{host}/a/b.txt"), self.said(f"{host}.txt")), ("bee\n", "one\n"))
        self.assertIn("unchanged", self.apply("-f", self.folder / "job.yaml").text)
        self.write("files/one.txt", "two\n")
        self.assertIn("changed (version 2)", self.apply("-f", self.folder / "job.yaml").text)

    def test_batched_job_stage_is_one_child_for_each_batch(self):
        self.apply("-f", self.job(f"""
params: {{word: {{required: true}}, dir: {{default: '{self.out}'}}}}
stages:
  - name: inner
    script: echo "$MUSTER_PARAM_WORD" > "$MUSTER_PARAM_DIR/$MUSTER_HOST"
---
{HEAD}name: {self.name}-parent
targets: 'h[1-3]'
stages:
  - name: each
    batches: [1, 2]
    job: {{name: {self.name}, params: {{word: 'for-${{{{ targets.count }}}}'}}}}
""", path="both.yaml"))
        run = self.start(f"{self.name}-parent")
        self.assertEqual(run["state"], "succeeded", run)
        children = [visit["child"] for visit in self.cluster.get(f"/runs/{run['id']}/visits")["visits"]
                    if visit["child"]]
        self.assertEqual([self.cluster.run_of(child)["hosts"] for child in children], [1, 2])
        self.assertEqual([self.said(host) for host in self.hosts], ["for-3\n"] * 3)
        refused = self.assertCode(self.cluster.muster("delete", "job", self.name), 1)
        self.assertIn(f"{self.name}-parent", refused.complaint)

    def test_groups_are_targets(self):
        self.write("groups.yaml", "apiVersion: muster/v1\nkind: group\nname: pair\nhosts: ['h[1-2]', h9]\n---\n"
                                  "apiVersion: muster/v1\nkind: group\nname: rest\ntargets: 'h* and not @pair'\n")
        self.apply("-f", self.folder / "groups.yaml")
        for expression, hosts in (("@pair", {"h1", "h2"}), ("@rest", {"h3"}), ("@pair and h1, @rest", {"h1", "h3"})):
            answer = self.cluster.http("POST", "/api/v1/hosts/resolve", {"targets": expression})
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.json()["count"], len(hosts), answer)
        self.assertCode(self.cluster.muster("run", "-t", "@nobody", "--", "true"), 4)
        self.write("groups.yaml", "apiVersion: muster/v1\nkind: group\nname: pair\ntargets: '@rest'\n")
        refused = self.assertCode(self.cluster.muster("apply", "-f", self.folder / "groups.yaml"), 1)
        self.assertIn("@pair -> @rest -> @pair", refused.complaint)

    def test_hosts_have_the_labels_of_their_documents(self):
        document = self.write("hosts.yaml", "apiVersion: muster/v1\nkind: host\nname: h3\nlabels: {rack: r7}\n---\n"
                                            "apiVersion: muster/v1\nkind: host\nname: later\nlabels: {rack: r8}\n")
        made = self.assertCode(self.cluster.muster("tokens", "create", "op", "--role", "operator"), 0).text.split()[-1]
        self.assertCode(self.cluster.muster("apply", "-f", document, "--token", made), 3)
        self.apply("-f", document)
        self.assertEqual(self.cluster.get("/hosts/h3")["labels"]["rack"], "r7")
        self.cluster.add_agent("later")
        self.cluster.wait_online("later")
        self.assertEqual(self.cluster.get("/hosts/later")["labels"]["rack"], "r8")
        document.write_text("apiVersion: muster/v1\nkind: host\nname: h3\nlabels: {row: a}\n")
        pruned = self.apply("-f", document, "--prune").text
        self.assertIn("host later  deleted", pruned)
        labels = self.cluster.get("/hosts/h3")["labels"]
        self.assertEqual((labels.get("rack"), labels.get("row")), (None, "a"))

    def test_deleted_job_cannot_be_started_and_comes_back_with_its_next_version(self):
        file = self.job("targets: h1\nstages: [{name: a, script: 'exit 1'}]\n")
        self.apply("-f", file)
        run = self.start(self.name, code=1)
        self.cluster.restart_server()
        deleted = self.assertCode(self.cluster.muster("delete", "job", self.name, "--reason", "done with it"), 0)
        self.assertEqual(deleted.text, f"job {self.name}  deleted\n")
        self.assertCode(self.cluster.muster("start", self.name), 4)
        self.assertCode(self.cluster.muster("delete", "job", self.name), 4)
        self.assertCode(self.cluster.muster("retry", run["id"], "--version", "latest"), 4)
        old = self.assertCode(self.cluster.muster("get", "job", self.name, "--version", "1", "-o", "yaml"), 0)
        self.assertEqual(old.text, file.read_text())
        self.assertIn("created (version 2)", self.apply("-f", file).text)


class Guide(ClusterTest):
    hosts = ("web1", "web2", "web3")

    @classmethod
    def set_up_hosts(cls):
        for name in cls.hosts:
            cls.cluster.add_agent(name, labels={"app": "web"})

    def test_every_command_does_what_the_guide_says(self):
        """`<!-- file: NAME -->` before a block makes it a file; in console blocks lines with `$` are carried
        out, and each line under one must be among what it prints."""
        text = (SOURCE / "docs/jobs/guide.md").read_text()
        folder = self.cluster.folder / "guide"
        folder.mkdir()
        environment = {**self.cluster.environment(), "PATH": f"{BIN}:{os.environ['PATH']}"}
        bob = self.assertCode(self.cluster.muster("tokens", "create", "bob", "--role", "operator"), 0).text.split()[-1]
        environment["BOB"] = bob
        commands = 0
        for name, kind, block in re.findall(r"(?:<!-- file: (\S+) -->\n)?```(\w+)\n(.*?)```", text, re.S):
            if name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(block)
            if kind != "console":
                continue
            for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, expected = step.partition("\n")
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True,
                                      text=True, timeout=DEADLINE, check=False)
                said = [" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()]
                for line in expected.splitlines():
                    if line.strip():
                        self.assertIn(" ".join(line.split()), said, f"$ {command}")
                commands += 1
        self.assertGreater(commands, 10)


if __name__ == "__main__":
    unittest.main()
