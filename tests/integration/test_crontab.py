"""Crontabs from their lines to triggers on a real server: the same times as before, and the same command."""

import datetime
import json
import os
import pwd
import random
import re
import subprocess
import sys
import unittest
from pathlib import Path

import croniter
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

UTC = datetime.timezone.utc
ME = pwd.getpwuid(os.getuid())
# What croniter knows by another name.
WORDS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
         "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}


def schedules(count):
    """Expressions as crontabs have them, no two alike. Days of the month that every month has, and only one of the
    two day fields with a star and a step: docs/cron.md tells where croniter differs there."""
    draw = random.Random(5)
    found = list(WORDS)
    while len(found) < count:
        minute = draw.choice([str(draw.randrange(60)), "*/5", "*/15", "*", "0,30", "5-55/10", "7,22-24"])
        hour = draw.choice([str(draw.randrange(24)), "*", "*/2", "8-18", "0-23/3", "1,13"])
        day, weekday = draw.choice([("*", "*"), ("1,15", "*"), (str(draw.randrange(1, 29)), "*"), ("*", "1-5"),
                                    ("*", "sun"), ("*", "7"), ("*", "mon,wed,fri"), ("13", "fri"), ("1-7", "6")])
        month = draw.choice(["*", "*", "*", "1-6", "jan,JUL", "*/3", "11"])
        one = f"{minute} {hour} {day} {month} {weekday}"
        if one not in found:
            found.append(one)
    return found


def crontab(lines):
    """A crontab of these schedules with comments, settings and %; and what each line is."""
    draw = random.Random(7)
    text, entries = "# m h  dom mon dow   command\n", {}
    for number, when in enumerate(lines):
        if number % 10 == 3:
            text += f"\n# Part {number} of the nightly work\n"
        if number % 25 == 5:
            text += f"STAGE_{number} = \"number {number}\"\n"
        command = f"/opt/work-{number} --all"
        if number % 4 == 1:
            command += " +\\%F%first line%second line"
        blank = draw.choice(["\t", " ", "  "])
        text += draw.choice(["", "", "  "]) + when.replace(" ", blank) + blank + command + "\n"
        entries[f"/opt/work-{number} "] = when
    return text, entries


def next_times(when, after, count):
    times = croniter.croniter(WORDS.get(when, when), after, ret_type=datetime.datetime)
    return [times.get_next().strftime("%Y-%m-%dT%H:%M:%SZ") for _ in range(count)]


class Crontab(ClusterTest):
    hosts = ("web1", "web2")

    def imported(self, *words, code=0, stdin=b""):
        return self.assertCode(self.cluster.muster("import", "crontab", *words, stdin=stdin), code)

    def file(self, name, text):
        path = self.cluster.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def triggers(self):
        found, cursor = {}, ""
        while cursor is not None:
            page = self.cluster.get("/triggers", limit="100", **({"cursor": cursor} if cursor else {}))
            found.update({trigger["name"]: trigger for trigger in page["triggers"]})
            cursor = page["next"]
        return found

    def test_two_hundred_lines_keep_their_times(self):
        text, entries = crontab(schedules(200))
        file = self.file("big.cron", text)
        out = self.cluster.folder / "big"
        report = self.imported(file, "--user", ME.pw_name, "--host", "web1", "--tz", "UTC", "--into", out).complaint
        self.assertIn("200 of 200 lines of 1 host became 200 triggers, all paused", report)
        when_of = {}
        for path in out.iterdir():
            job, trigger = yaml.safe_load_all(path.read_text())
            run = job["stages"][0]["script"]["run"]
            when_of[trigger["name"]] = entries[run.split("--")[0]]
            self.assertEqual("%" in run, "stdin" in job["stages"][0]["script"], path)
        self.assertEqual(sorted(when_of.values()), sorted(entries.values()))
        self.assertCode(self.cluster.muster("apply", "-f", out), 0)
        listed = self.triggers()
        for name, when in when_of.items():
            trigger = listed[name]
            self.assertEqual(trigger["state"], "paused", trigger)
            after = datetime.datetime.fromisoformat(trigger["mark"].replace("Z", "+00:00"))
            self.assertEqual([trigger["next"][:19] + "Z"], next_times(when, after, 1), (when, trigger))
        # Far from now, and several of each.
        far = datetime.datetime(2028, 2, 27, 11, 59, 30, tzinfo=UTC)
        for name, when in list(when_of.items())[::10]:
            shown = self.assertCode(self.cluster.muster(
                "cron", "next", listed[name]["schedule"]["cron"], "--from", "2028-02-27T11:59:30Z", "-n", "5"), 0)
            self.assertEqual(shown.text.split(), next_times(when, far, 5), when)
        # Applied again after somebody resumed one, it stays so.
        name = min(when_of)
        self.assertEqual(self.cluster.http("POST", f"/api/v1/triggers/{name}/resume", {}).status, 200)
        changed = out / f"{name}.yaml"
        changed.write_text(changed.read_text() + "description: Now in Muster.\n")
        self.assertCode(self.cluster.muster("apply", "-f", out), 0)
        states = {trigger["state"] for other, trigger in self.triggers().items() if other in when_of and other != name}
        self.assertEqual((self.triggers()[name]["state"], states), ("runnable", {"paused"}))

    def test_fired_by_hand_it_runs_as_cron_would(self):
        text = ("# of nobody\n"
                "0 0 1 1 * id -un; echo \"$HOME $PATH $LOGNAME $SHELL\"; readlink /proc/$$/exe | sed 's,.*/,,'; cat\n"
                "HOME=/tmp\nSHELL=/bin/bash\nGREETING='hello  there'\nMAILTO=ops@example.com\n"
                "0 0 2 1 * id -un; pwd; echo \"$GREETING 100\\% $HOME $LOGNAME\"; echo ${BASH##*/}; cat"
                "%first%%$HOME \\% last\n")
        done = self.imported(self.file("two.cron", text), "--user", "nobody", "--host", "web1", "--apply")
        self.assertIn("MAILTO=ops@example.com", done.complaint)
        said = []
        for name in re.findall(r"becomes trigger (\S+)", done.complaint):
            self.assertIn(f"trigger {name}  created", done.text)
            answer = self.cluster.http("POST", f"/api/v1/triggers/{name}/fire", {})
            self.assertEqual(answer.status, 201, answer)
            run = self.cluster.wait_end(answer.json()["id"])
            self.assertEqual(run["state"], "succeeded", run)
            said.append(self.cluster.log_of(run["id"], "web1").decode())
            self.assertEqual(self.cluster.get(f"/triggers/{name}")["state"], "paused")
        shell = Path("/bin/sh").resolve().name
        self.assertEqual(said, [
            f"nobody\n{pwd.getpwnam('nobody').pw_dir} /usr/bin:/bin nobody /bin/sh\n{shell}\n",
            "nobody\n/tmp\nhello  there 100% /tmp nobody\nbash\nfirst\n\n$HOME % last\n"])

    def test_a_fleet_is_collected_and_folded(self):
        root = self.cluster.folder / "root"
        self.file("root/etc/timezone", "Europe/Berlin\n")
        self.file("root/etc/crontab", "17 * * * * root cd / && run-parts /etc/cron.hourly\n@reboot root /opt/start\n")
        self.file("root/etc/cron.d/open", "1 2 * * * nobody no-end")
        self.file("root/etc/cron.d/old.dpkg-dist", "1 2 * * * root old\n")
        (root / "etc/cron.d/noise").write_bytes(bytes(range(256)) * 4 + b"\n0 1 * * * root fine\n")
        spool = self.file("root/var/spool/cron/crontabs/deploy", "=== end\n0 3 * * 1\t/opt/it's\\%here 'a.b*'\n")
        self.file("root/var/spool/cron/long", "0 4 * * * kept\n" + "# filler\n" * 40000)
        words = ["--from-hosts", "-t", "web1,web2", "--root", root, "--as", ME.pw_name]
        answer = json.loads(self.imported(*words, "-o", "json").out)
        self.assertEqual(answer["hosts"], 2)
        found = {trigger["user"]: trigger for trigger in answer["triggers"] if trigger["user"] != "root"}
        self.assertEqual(set(found), {"nobody", "deploy", "long"})
        for trigger in answer["triggers"]:
            self.assertEqual((trigger["hosts"], trigger["tz"]), (["web1", "web2"], "Europe/Berlin"))
            self.assertEqual(yaml.safe_load_all(trigger["text"]).__next__()["name"], trigger["name"])
        notes = " ".join(note["message"] for note in answer["notes"])
        for part in ("@reboot", "has no end", "is too long", "old.dpkg-dist", "is no text", "'=== end'"):
            self.assertIn(part, notes)
        # The line that comments out the old entry does that, and nothing else.
        before = spool.read_text()
        line = found["deploy"]["places"][0]
        self.assertEqual(line["file"], "/var/spool/cron/crontabs/deploy")
        subprocess.run(["sh", "-c", line["comment_out"].replace(" /var/", f" {root}/var/")], check=True)
        self.assertEqual(spool.read_text(), before.replace("0 3 * *", "# 0 3 * *"))
        again = json.loads(self.imported(*words, "-o", "json").out)
        self.assertNotIn("deploy", {trigger["user"] for trigger in again["triggers"]})
        report = self.imported(*words, "--apply", "--dry-run").complaint
        self.assertIn("8 of 12 lines of 2 hosts became 4 triggers, all paused", report)

    def test_what_is_asked_for_must_be_clear(self):
        file = self.file("x.cron", "0 1 * * * x\n")
        for words in ([], [file], [file, "--user", "a", "--system"], ["--from-hosts"], [file, "--from-hosts", "-t", "all"],
                      [file, "--user", "a", "--host", "h", "-t", "all"], [file, "--user", "a", "--tz", "Mars/Olympus"],
                      [file, "--user", "a", "--dry-run"]):
            done = self.cluster.muster("import", "crontab", *words)
            self.assertIn(done.code, (2, 4), (words, done))
        missing = self.imported(self.cluster.folder / "not-there.cron", code=4)
        self.assertNotIn("--user", missing.complaint)
        self.assertIn("--user NAME", self.imported("-", code=2).complaint)
        piped = self.imported("-", "--system", "-t", "web*", stdin=b"0 1 * * * root x\n0 25 * * * root x\n")
        self.assertEqual(piped.text.count("kind: trigger"), 1)
        self.assertIn("targets: 'web*'", piped.text)
        self.assertIn("-:2:3: ", piped.complaint)
        self.assertIn(" /etc/crontab", piped.complaint)
        self.imported("--from-hosts", "-t", "nobody1", code=4)
        refused = self.imported("--from-hosts", "-t", "web1", "--as", "no-such-user", code=6)
        self.assertRegex(refused.complaint, "web1: its crontabs are not imported: refused: .*no-such-user")
        self.assertIn("0 of 0 lines", refused.complaint)


if __name__ == "__main__":
    unittest.main(verbosity=2)
