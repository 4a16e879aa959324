#!/bin/sh
# Says which file systems are fuller than a limit, and fails when there is one.
#   muster run -t all --script examples/disk-check.sh            limit 90 %
#   muster run -t all --script examples/disk-check.sh -- 75      limit 75 %
limit=${1:-90}
case $limit in
  ''|*[!0-9]*) echo "disk-check: '$limit' is not a percentage" >&2; exit 2 ;;
esac

# -P: one line per file system; -l: local ones only, so a dead NFS server cannot hang the check.
df -Pl -x tmpfs -x devtmpfs -x squashfs -x overlay 2>/dev/null | awk -v limit="$limit" '
  NR > 1 { used = $5; sub(/%/, "", used)
           if (used + 0 > limit + 0) { printf "%s is %s%% full\n", $6, used; full = 1 } }
  END    { if (!full) print "no file system above " limit "%"; exit full }'
