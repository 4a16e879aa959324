#!/usr/bin/env python3
"""Prints the processes that hold most memory, biggest first, from /proc alone.

  muster run -t 'app=web' --script examples/top-memory.py            the first five
  muster run -t 'app=web' --script examples/top-memory.py -- 20      the first twenty
"""
import os
import sys

count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
page = os.sysconf("SC_PAGE_SIZE")
found = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/statm") as statm:
            resident = int(statm.read().split()[1]) * page
        with open(f"/proc/{pid}/comm") as comm:
            found.append((resident, int(pid), comm.read().strip()))
    except OSError:
        continue  # it ended while we looked
for resident, pid, name in sorted(found, reverse=True)[:count]:
    print(f"{resident / 2**20:8.1f} MB  {pid:>7}  {name}")
