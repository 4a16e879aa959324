"""A task's user tampers with the task's folder, in which the agent reads and writes as root.

The user (`nobody`) wants root to read a file of root's for them (as outputs of the task), to write or empty one, to
block on a pipe, or to take another end for the task's own. All they own there are the script and the file for outputs,
and they must not be able to put anything else in the place of these or of other files.
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from muster_cluster import ClusterTest  # noqa: E402

# Prints each attempt that succeeded.
TAMPER = r"""
secret=$1
folder=$(dirname "$MUSTER_OUTPUT")
mine=$(mktemp -d) && cd "$mine" || exit 9
echo "name=forged" > file
try() { "$@" > /dev/null 2>&1 < /dev/null && echo "did: $*"; }
try ls "$folder"
try ls "$folder/.."
for name in order stdin exit.new exit out kill cgroup; do try cat "$folder/$name"; done
for name in exit kill settled restart cgroup stdin out exit.old output.2; do
  try cp file "$folder/$name"
  try ln -s "$secret" "$folder/$name"
  try ln file "$folder/$name"
  try mkfifo "$folder/$name"
done
for name in order exit.new output script; do
  try mv -f file "$folder/$name"
  try mv "$folder/$name" "$folder/moved"
  try ln -sf "$secret" "$folder/$name"
  try unlink "$folder/$name"
done
try mv "$folder" "$folder.moved"
try chmod 0777 "$folder"
echo "mine=kept" >> "$MUSTER_OUTPUT"
rm -rf "$mine"
"""

JOB = """apiVersion: muster/v1
kind: job
name: tamper
targets: h1
stages:
  - name: tamper
    script: {{file: tamper.sh, args: ['{secret}']}}
  - name: tell
    script: {{run: 'echo "outputs: $1"', args: ['${{{{ stages.tamper.outputs.mine }}}}']}}
"""


class TaskFolder(ClusterTest):
    hosts = ("h1",)

    @classmethod
    def set_up_hosts(cls):
        cls.cluster.add_agent("h1", options=["--run-as", "nobody"])
        cls.cluster.wait_online("h1")

    def test_nothing_in_it_can_be_replaced(self):
        folder = self.cluster.folder / "documents"
        folder.mkdir()
        secret = folder / "secret"
        secret.write_text("mine=root's own secret\n")
        secret.chmod(0o600)
        (folder / "tamper.sh").write_text(TAMPER)
        (folder / "job.yaml").write_text(JOB.format(secret=secret))
        self.assertCode(self.cluster.muster("apply", "-f", folder / "job.yaml"), 0)
        outcome = self.assertCode(self.cluster.muster("start", "tamper"), 0)
        run = outcome.text.strip()
        self.assertEqual(self.cluster.wait_end(run)["state"], "succeeded")
        self.assertEqual(self.cluster.log_of(run, "h1", "stdout").decode(), "outputs: kept\n")
        self.assertEqual(secret.read_text(), "mine=root's own secret\n")


if __name__ == "__main__":
    assert os.geteuid() == 0, "only root can become another user"
    unittest.main()
