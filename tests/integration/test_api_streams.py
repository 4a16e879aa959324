"""Server-sent events of the HTTP API."""

import http.client
import json
import socket
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from api_contract import CONTRACT, ApiTest, misfits  # noqa: E402
from muster_cluster import wait_until  # noqa: E402


class EventStream:
    """Server-sent events, read as they come."""

    def __init__(self, cluster, topics):
        self._connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, context=cluster.tls(), timeout=60)
        self._connection.request("GET", f"/api/v1/stream?topics={topics}",
                                 headers={"Authorization": f"Bearer {cluster.token}"})
        self.response = self._connection.getresponse()
        self.events = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        name = number = None
        try:
            for raw in self.response:
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    self.events.append((name, number, json.loads(line[6:])))
                    name = number = None
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            return  # closed by the test

    def of(self, name):
        return [data for kind, _, data in list(self.events) if kind == name]

    def close(self):
        if self._connection.sock:
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)
        self.response.close()
        self._connection.close()


class Streams(ApiTest):
    def stream(self, topics):
        stream = EventStream(self.cluster, topics)
        self.addCleanup(stream.close)
        self.assertEqual(stream.response.status, 200)
        self.assertIn("text/event-stream", stream.response.headers["Content-Type"])
        return stream

    def test_snapshot_then_output_task_and_end(self):
        gate = self.cluster.folder / "stream-gate"
        run = self.cluster.start_run("-t", "h1", "--", f"until test -e {gate}; do sleep 0.05; done; echo hello; exit 4")
        self.cluster.wait_task(run, "h1", "running")
        stream = self.stream(f"run:{run},log:{run}")
        wait_until("the snapshot comes", lambda: stream.events)
        name, number, first = stream.events[0]
        self.assertEqual((name, first["id"], first["state"], first["counts"]), ("run", run, "running", {"running": 1}))
        self.assertIsInstance(number, int)
        gate.touch()
        wait_until("the end comes", lambda: [event for event in stream.of("run") if event["state"] == "failed" and
                                             event["logs_open"] == 0])
        tasks = stream.of("task")
        self.assertEqual([(task["host"], task["state"], task["exit_code"]) for task in tasks], [("h1", "failed", 4)])
        self.assertEqual([log["data_base64"] for log in stream.of("log")], ["aGVsbG8K"])
        for kind, schema in (("run", "RunEvent"), ("task", "TaskEvent"), ("log", "LogEvent")):
            for event in stream.of(kind):
                self.assertEqual(misfits(event, CONTRACT["components"]["schemas"][schema]), [])
        self.assertEqual(stream.of("run")[-1]["exit_code"], 1)

    def test_snapshot_of_an_ended_run(self):
        run = self.cluster.start_run("-t", "h1", "--", "true")
        self.cluster.wait_end(run)
        stream = self.stream(f"run:{run}")
        wait_until("a first event comes", lambda: stream.events)
        name, _, first = stream.events[0]
        self.assertEqual((name, first.get("state"), first.get("counts")), ("run", "succeeded", {"succeeded": 1}))

    def test_unknown_run_is_told(self):
        stream = EventStream(self.cluster, "run:r999999")
        self.addCleanup(stream.close)
        if stream.response.status == 200:
            wait_until("a first event comes", lambda: stream.events)
            self.assertEqual(stream.events[0][0], "reset")
        else:
            self.assertEqual(stream.response.status, 404)


if __name__ == "__main__":
    unittest.main(verbosity=2)
