"""Next times per second beside croniter, croner and cron-parser, in the same run.

    METRIC cron_next_per_second ...        the smaller of the two zones
    METRIC cron_next_ratio ...             beside the fastest of the three, in the zone where that is smaller
"""
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
import zoneinfo

from croniter import croniter

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MUSTER_BUILD", ROOT / "build/release"))
sys.path.insert(0, str(ROOT / "tests/support"))
import npm_packages  # noqa: E402

FILE = ROOT / "bench/cron_expressions.json"
ZONES = ("UTC", "Europe/Berlin")
REPEATS = 3


def lines(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def ask_croniter(tz):
    base = datetime.datetime(2026, 3, 1, tzinfo=zoneinfo.ZoneInfo(tz))
    asked, spent = 0, 0.0
    for expression in json.loads(FILE.read_text()):
        iterator = croniter(expression, base)
        start = time.perf_counter()
        for i in range(500):
            iterator.set_current(base + datetime.timedelta(minutes=i * (37 * 60 + 11)))
            iterator.get_next(datetime.datetime)
            asked += 1
            if time.perf_counter() - start > 0.25:
                break
        spent += time.perf_counter() - start
    return asked / spent


def main():
    packages = BUILD / "cron-peers"
    npm_packages.install(ROOT / "tests/differential", packages)
    rates = {}  # the best of several: what else runs on the machine only slows down
    for _ in range(REPEATS):
        for tz, rate in lines(BUILD / "bench/cron", FILE, *ZONES):
            rates["muster", tz] = max(rates.get(("muster", tz), 0), float(rate))
        for name, tz, rate in lines("node", ROOT / "bench/cron_peers.mjs", FILE, packages, *ZONES):
            rates[name, tz] = max(rates.get((name, tz), 0), float(rate))
        for tz in ZONES:
            rates["croniter", tz] = max(rates.get(("croniter", tz), 0), ask_croniter(tz))
    peers = ("croniter", "croner", "cron_parser")
    for name in peers:
        for tz in ZONES:
            print(f"METRIC cron_next_{name}_{tz.replace('/', '_')} {rates[name, tz]:.0f} per_second")
    for tz in ZONES:
        print(f"METRIC cron_next_muster_{tz.replace('/', '_')} {rates['muster', tz]:.0f} per_second")
    print(f"METRIC cron_next_per_second {min(rates['muster', tz] for tz in ZONES):.0f} per_second")
    ratio = min(rates["muster", tz] / max(rates[name, tz] for name in peers) for tz in ZONES)
    print(f"METRIC cron_next_ratio {ratio:.1f} times_fastest_peer")


if __name__ == "__main__":
    main()
