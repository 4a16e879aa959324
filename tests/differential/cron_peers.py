#!/usr/bin/python3
"""Compares next times with croniter and croner, over random (expression, zone, moment) triples.

    cron_peers.py --answers BUILD/tests/cron_answers --peers BUILD/cron-peers [--triples N] [--seed S]

A peer that answers differently is an error, unless the triple shows one of the differences of docs/cron.md; how many
did is printed with their names. croniter is asked on the clock of the zone, and Python's zoneinfo puts its answer on
the time line: its own arithmetic is an hour off when a clock change lies between.
"""

import argparse
import collections
import datetime
import json
import random
import re
import subprocess
import sys
import zoneinfo
from pathlib import Path

import croniter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import npm_packages  # noqa: E402

UTC = datetime.timezone.utc
ZONES = ("UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo",
         "America/St_Johns", "Australia/Lord_Howe", "Australia/Sydney", "Asia/Tokyo", "Asia/Kolkata", "Asia/Kathmandu",
         "Pacific/Apia", "Pacific/Chatham", "Africa/Johannesburg", "America/Santiago")
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
FIRST, LAST = 2000, 2037
ALL_WEEK = {f"{days}{step}" for days in ("0-6", "1-7", "0-7") for step in ("", "/1")}
ALL_MONTH = {"1-31", "1-31/1"}

Triple = collections.namedtuple("Triple", "fields tz after both")


def expression(triple):
    return " ".join(triple.fields)


class Zone:
    def __init__(self, name):
        self.name = name
        self.info = zoneinfo.ZoneInfo(name)
        self.changes = list(self.find_changes())

    def find_changes(self):
        step = datetime.timedelta(days=7)
        at = datetime.datetime(FIRST, 1, 1, tzinfo=UTC)
        while at.year < LAST:
            if self.offset(at) != self.offset(at + step):
                low, high = at, at + step
                while high - low > datetime.timedelta(seconds=1):
                    middle = low + (high - low) / 2
                    middle = middle.replace(microsecond=0)
                    low, high = (middle, high) if self.offset(middle) == self.offset(low) else (low, middle)
                yield high
            at += step

    def offset(self, moment):
        return moment.astimezone(self.info).utcoffset()

    def readings(self, reading):
        """The moments at which the clock shows this: one, none in a gap, two in a fold."""
        both = {reading.replace(tzinfo=self.info, fold=fold).astimezone(UTC) for fold in (0, 1)}
        return sorted(moment for moment in both if moment.astimezone(self.info).replace(tzinfo=None) == reading)


class Generator:
    """Fields as people write them, and rarer ones; half of the moments are close to a clock change."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.zones = {name: Zone(name) for name in ZONES}

    def field(self, low, high, names=None):
        choose = self.random
        value = lambda: choose.randint(low, high)
        kind = choose.randrange(10)
        if kind < 3:
            return "*"
        if kind == 3:
            return f"*/{choose.randint(2, (high - low + 1) // 2)}"
        if kind == 4:
            start, end = sorted((value(), value()))
            return f"{start}-{end}"
        if kind == 5:
            start, end = sorted((value(), value()))
            return f"{start}-{end}/{choose.randint(1, max(1, min(end - start, (high - low + 1) // 2)))}"
        if kind == 6:
            return ",".join(str(number) for number in sorted({value() for _ in range(choose.randint(2, 4))}))
        if kind == 7 and names:
            return names[value() % len(names)]
        return str(value())

    def day(self):
        kind = self.random.randrange(20)
        if kind < 2:
            return "L"
        if kind == 2:
            return f"{self.random.randint(1, 31)}W"
        if kind == 3:
            return "LW"
        return "*" if kind < 10 else self.field(1, 31)

    def weekday(self):
        kind = self.random.randrange(20)
        if kind == 0:
            return f"{self.random.randint(0, 6)}L"
        if kind == 1:
            return f"{self.random.randint(0, 6)}#{self.random.randint(1, 5)}"
        return "*" if kind < 11 else self.field(0, 7, WEEKDAYS)

    def moment(self, zone):
        start = datetime.datetime(FIRST, 1, 2, tzinfo=UTC)
        end = datetime.datetime(LAST - 8, 1, 1, tzinfo=UTC)
        if zone.changes and self.random.random() < 0.5:
            near = self.random.choice([change for change in zone.changes if change < end])
            return near + datetime.timedelta(seconds=self.random.randint(-90_000, 10_000))
        return start + datetime.timedelta(seconds=self.random.randrange(int((end - start).total_seconds())))

    def triple(self):
        month = self.field(1, 12, MONTHS) if self.random.random() < 0.3 else "*"
        fields = [self.field(0, 59), self.field(0, 23), self.day(), month, self.weekday()]
        if self.random.random() < 0.2:
            fields.insert(0, self.field(0, 59))
        tz = self.random.choice(ZONES)
        return Triple(tuple(fields), tz, self.moment(self.zones[tz]), self.random.random() < 0.15)


def starred(triple):
    """A day field */n beside a restricted one: both must hold, as in Vixie's cron; the peers take either."""
    day, weekday = triple.fields[-3], triple.fields[-1]
    return "*" not in (day, weekday) and (day.startswith("*") or weekday.startswith("*"))


def for_peers(triple):
    return triple._replace(both=triple.both or starred(triple))


def milliseconds(moment):
    return round(moment.timestamp() * 1000)


def ask_muster(program, triples):
    lines = "".join(f"{expression(t)}\t{t.tz}\t{milliseconds(t.after)}\t{'both' if t.both else 'either'}\n" for t in triples)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(triples), done
    return [None if answer == "none" else int(answer) if answer.lstrip("-").isdigit() else answer for answer in answers]


def ask_croner(folder, triples):
    cases = [{"expression": expression(t), "tz": t.tz, "after": milliseconds(t.after), "both": t.both} for t in triples]
    done = subprocess.run(["node", Path(__file__).with_name("croner_answers.mjs"), folder], input=json.dumps(cases),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def ask_croniter(triple, zone):
    """The next reading of the zone's clock, without looking at clock changes; a text when it refuses."""
    fields = list(triple.fields)
    if len(fields) == 6:
        fields.append(fields.pop(0))  # it takes the seconds last
    fields[4] = re.sub(r"^(\d)L$", r"L\1", fields[4])
    start = triple.after.astimezone(zone.info).replace(tzinfo=None)
    try:
        return croniter.croniter(" ".join(fields), start, day_or=not triple.both).get_next(datetime.datetime)
    except croniter.CroniterBadDateError:
        return None
    except (ValueError, NameError) as problem:  # the latter is how it refuses L-3
        return str(problem)


class Comparison:
    def __init__(self, answers, peers, generator):
        self.answers = answers
        self.peers = peers
        self.zones = generator.zones
        self.counts = collections.Counter()
        self.wrong = []

    def run(self, triples):
        ours = ask_muster(self.answers, triples)
        asked = [for_peers(triple) for triple in triples]
        croner = ask_croner(self.peers, asked)
        for triple, mine, theirs in zip(asked, ours, croner):
            assert mine is None or isinstance(mine, int), (triple, mine)
            zone = self.zones[triple.tz]
            with_croniter = self.judge_croniter(triple, mine, zone)
            with_croner = self.judge_croner(triple, mine, theirs, zone)
            self.counts["agree with both"] += with_croniter and with_croner

    def judge_croner(self, triple, mine, theirs, zone):
        if mine == theirs:
            self.counts["croner agrees"] += 1
            return True
        self.differs("croner", triple, mine, theirs, self.reason_croner(triple, mine, zone))
        return False

    def judge_croniter(self, triple, mine, zone):
        theirs = ask_croniter(triple, zone)
        if isinstance(theirs, datetime.datetime):
            moments = zone.readings(theirs)
            if len(moments) == 1 and milliseconds(moments[0]) == mine:
                self.counts["croniter agrees"] += 1
                return True
        elif theirs is None and mine is None:
            self.counts["croniter agrees"] += 1
            return True
        self.differs("croniter", triple, mine, theirs, self.reason_croniter(triple, mine, theirs, zone))
        return False

    def differs(self, peer, triple, mine, theirs, reason):
        if reason:
            self.counts[f"{peer}: {reason}"] += 1
        else:
            self.wrong.append((peer, expression(triple), triple.tz, triple.after.isoformat(), triple.both, self.shown(mine, triple),
                               self.shown(theirs, triple)))

    def shown(self, answer, triple):
        if not isinstance(answer, int):
            return str(answer)
        return datetime.datetime.fromtimestamp(answer / 1000, self.zones[triple.tz].info).isoformat()

    # Each reason is a row of docs/cron.md, under the same words.
    def reason_croner(self, triple, mine, zone):
        if self.jumped_over(mine, zone):
            return "several times in a gap"
        if self.in_fold(triple.after, zone):
            return "asked inside a fold"
        if self.is_march(triple, mine, zone):
            return "days that February has not"
        return None

    def reason_croniter(self, triple, mine, theirs, zone):
        day, weekday = triple.fields[-3], triple.fields[-1]
        if "W" in day:
            return "W"
        if ("#" in weekday or "L" in weekday) and day != "*":
            return "# and L beside a day of the month"
        if len(triple.fields) == 6 and "7" in weekday:
            return "7 beside seconds"
        if weekday in ALL_WEEK or day in ALL_MONTH:
            return "a range of all days"
        if theirs is None and mine is not None and "*" not in (day, weekday):
            return "a day of the month that never comes"
        if self.is_march(triple, mine, zone):
            return "days that February has not"
        if isinstance(theirs, datetime.datetime) and len(zone.readings(theirs)) != 1:
            return "clock changes"
        if self.in_fold(triple.after, zone):
            return "clock changes"
        return None

    @staticmethod
    def in_fold(moment, zone):
        return len(zone.readings(moment.astimezone(zone.info).replace(tzinfo=None))) == 2

    @staticmethod
    def is_march(triple, mine, zone):
        """Asked in February about a day past its end, with the answer at the start of March."""
        if mine is None or triple.after.astimezone(zone.info).month != 2:
            return False
        found = datetime.datetime.fromtimestamp(mine / 1000, zone.info)
        return (found.month, found.day <= 3) == (3, True)

    @staticmethod
    def jumped_over(mine, zone):
        return mine is not None and any(milliseconds(change) == mine for change in zone.changes)


PAGE = Path(__file__).resolve().parents[2] / "docs/cron.md"


def page_rows():
    """The rows of the page's table of differences: the name, a triple, and what each of the three says."""
    table = PAGE.read_text().partition("## Beside other implementations")[2]
    for row in re.findall(r"^\| .*`.* \|$", table, re.MULTILINE):
        name, text, tz, after, *said = (cell.strip().replace("`", "") for cell in row.strip("|").split("|"))
        info = zoneinfo.ZoneInfo(tz)
        moment = datetime.datetime.fromisoformat(after).replace(tzinfo=info)
        yield name, Triple(tuple(text.split()), tz, moment.astimezone(UTC), False), said


def say(answer, zone):
    if isinstance(answer, int):
        answer = datetime.datetime.fromtimestamp(answer / 1000, zone.info).replace(tzinfo=None)
    if isinstance(answer, datetime.datetime):
        return answer.isoformat(" ", "minutes" if answer.second == 0 else "seconds")
    return "none" if answer is None else "refused"


def check_zones(program, seed):
    """Offsets of every zone there is, beside zoneinfo's, up to the year 2500; returns what differs."""
    choose = random.Random(seed)
    asked = []
    for name in sorted(zoneinfo.available_timezones() - {"localtime"}):
        for _ in range(40):
            asked.append((name, choose.randrange(-5_000_000_000, 16_000_000_000)))
    lines = "".join(f"{name}\t{moment * 1000}\n" for name, moment in asked)
    answers = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(asked) > 10_000
    wrong = []
    for (name, moment), answer in zip(asked, answers):
        offset = datetime.datetime.fromtimestamp(moment, zoneinfo.ZoneInfo(name)).utcoffset()
        if answer != str(int(offset.total_seconds())):
            wrong.append(f"{name} at {moment}: {answer}, zoneinfo has {int(offset.total_seconds())}")
    return wrong


def check_page(chosen, zones, reasons):
    """What the page says of the differences is what happens; returns what does not hold."""
    rows = list(page_rows())
    triples = [triple for _, triple, _ in rows]
    ours = ask_muster(chosen.answers, triples)
    croner = ask_croner(chosen.peers, triples)
    wrong = [f"docs/cron.md has no row '{reason}'" for reason in reasons if reason not in {name for name, _, _ in rows}]
    for (name, triple, said), mine, theirs in zip(rows, ours, croner):
        zone = zones.setdefault(triple.tz, Zone(triple.tz))
        found = [say(answer, zone) for answer in (mine, ask_croniter(triple, zone), theirs)]
        if found != said:
            wrong.append(f"docs/cron.md, '{name}' {expression(triple)}: {found}, not {said}")
    return wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--answers", required=True, help="the program cron_answers")
    options.add_argument("--peers", required=True, help="a folder for the npm packages, made if it is not there")
    options.add_argument("--triples", type=int, default=3000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    npm_packages.install(HERE, chosen.peers)
    generator = Generator(chosen.seed)
    comparison = Comparison(chosen.answers, chosen.peers, generator)
    comparison.run([generator.triple() for _ in range(chosen.triples)])
    for name, count in sorted(comparison.counts.items()):
        print(f"{count:7} {name}")
    for wrong in comparison.wrong[:40]:
        print("DIFFERS", *wrong, sep=" | ")
    reasons = {name.split(": ")[1] for name in comparison.counts if ": " in name}
    page = check_page(chosen, generator.zones, reasons)
    zones = check_zones(chosen.answers, chosen.seed)
    for line in page + zones[:20]:
        print(line)
    print(f"{chosen.triples} triples, seed {chosen.seed}: {len(comparison.wrong)} unexplained")
    sys.exit(1 if page or zones or comparison.wrong or comparison.counts["agree with both"] < chosen.triples // 2 else 0)


if __name__ == "__main__":
    main()
