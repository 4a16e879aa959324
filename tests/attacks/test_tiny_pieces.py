"""Root on one host (a compromised agent) sends the output that its task may have, cut into single bytes.

A row of the store takes some thirty bytes and more beside its data, and a piece in memory some hundreds. Before small
pieces were packed, 1 MiB of output took 31 MiB of a new server's disk, and 690 MB of its memory when it was read; now it
takes between 1.05 and 6.6 MiB, and 55 MB. It must not take more than a few times its size on disk, and a page of
pieces in memory, also if it is cut into many pieces with other streams and times. All of it is read back as it was sent.
"""

import base64
import json
import os
import random
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile import HostileTest  # noqa: E402
from process_cost import MIB, assert_cost, forget_most_memory, most_memory_of  # noqa: E402
from protobuf import field, fields  # noqa: E402

QUOTA = MIB
# How many times its size an output takes on disk: at most seven for a byte, and room in rows and pages.
MOST_TIMES = 12
# The same when frames come one by one: rows that were begun are written again, and leave room in their pages.
MOST_TIMES_IN_FRAMES = 18
MOST_TIMES_JOINED = 2  # of one stream and millisecond: neighbours are joined
IN_FRAME = 20_000  # pieces; the server closes links that send more than a window ahead
AHEAD = 10_000  # frames of a piece each, for the same reason


def on_disk(data):
    """Bytes of the logs, as their files have them once the write-ahead log is empty."""
    pages = 0
    for file in (data / "logs").glob("*.db"):
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        pages += database.execute("PRAGMA page_count").fetchone()[0]
        database.close()
    return pages * 4096


class PiecesTest(HostileTest):
    """Each test is a class, with a server of its own: what one sends counts against the host's allowance for all."""

    def setUp(self):
        self.connect()
        self.run_id, self.key = self.start({"command": {"argv": ["sleep", "1000"]}, "max_output": QUOTA})
        self.random = random.Random(1)
        self.before = on_disk(self.cluster.data)

    def piece(self, offset, byte, stream, time):
        return field(4, field(1, self.key) + field(2, offset) + field(3, stream) + field(4, time) + field(5, byte))

    def any_time(self, _):
        """Times that cost the most to keep, and cannot be compressed."""
        return 1_700_000_000_000 + self.random.getrandbits(34)

    def acknowledged(self, end):
        self.agent.await_field(7, lambda ack: True if dict(fields(ack)).get(2, 0) >= end else None)

    def send(self, output, in_frame, stream_of, time_of):
        """Sends the output byte by byte, so many in a frame, and waits for each frame."""
        for begin in range(0, len(output), in_frame):
            end = min(begin + in_frame, len(output))
            self.agent.frame(b"".join(self.piece(at, output[at:at + 1], stream_of(at), time_of(at))
                                      for at in range(begin, end)))
            self.acknowledged(end)

    def check(self, output, most_times=MOST_TIMES):
        grown = on_disk(self.cluster.data) - self.before
        assert_cost(self, grown, most_times * len(output))
        process = self.cluster.server.process.pid
        forget_most_memory(process)
        idle = most_memory_of(process)
        path = f"/api/v1/runs/{self.run_id}/log?host=bad"
        answer = self.cluster.http("GET", f"{path}&limit={8 * MIB}")
        self.assertEqual(answer.body, output)
        collected, offset, pages = b"", 0, 0
        while True:
            page = json.loads(self.cluster.http("GET", f"{path}&from={offset}&limit={8 * MIB}",
                                                headers={"Accept": "application/json"}).body)
            if page["next"] == offset:
                break
            pages += 1
            self.assertEqual(page["chunks"][0]["offset"], offset)
            collected += b"".join(base64.b64decode(chunk["data_base64"]) for chunk in page["chunks"])
            offset = page["next"]
        self.assertEqual(collected, output)
        grown = most_memory_of(process) - idle
        assert_cost(self, grown, 100 * MIB, f"{len(output)} bytes of output in {pages} pages")
        self.assertCode(self.cluster.muster("run", "-t", "good", "--", "echo", "served"), 0)


class OfOneStreamAndTime(PiecesTest):
    def test_are_joined(self):
        output = os.urandom(QUOTA)
        self.send(output, IN_FRAME, lambda _: 1, lambda _: 1_800_000_000_000)
        self.check(output, MOST_TIMES_JOINED)


class OfChangingStreamsAndTimes(PiecesTest):
    def test_share_rows(self):
        output = os.urandom(QUOTA)
        self.send(output, IN_FRAME, lambda at: 1 + at % 2, self.any_time)
        self.check(output)


class WithAFrameForEach(PiecesTest):
    def test_share_rows(self):
        # As many as a link may send at once; a task that lasts for hours has the time for all its quota.
        output = os.urandom(90_000)
        for at in range(len(output)):
            self.agent.frame(self.piece(at, output[at:at + 1], 1 + at % 2, self.any_time(at)))
            if (at + 1) % AHEAD == 0:
                self.acknowledged(at + 1)
        self.check(output, MOST_TIMES_IN_FRAMES)


class OfLines(PiecesTest):
    def test_the_last_are_shown(self):
        output = b"".join(b"%d\n" % number for number in range(10_000))
        self.send(output, IN_FRAME, lambda _: 1, self.any_time)
        shown = self.assertCode(self.cluster.muster("logs", self.run_id, "--host", "bad", "--tail", "2"), 0)
        self.assertEqual(shown.out, b"9998\n9999\n")


if __name__ == "__main__":
    unittest.main()
