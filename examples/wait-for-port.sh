#!/bin/bash
# Waits until something listens on a local port: the check between the steps of a rolling restart.
#   muster run -t 'web*' --batches 1,25% --timeout 60s --script examples/wait-for-port.sh -- 8080
# It has no limit of its own: --timeout ends it, and the host then counts as timed_out.
port=${1:?which port? give it after --}
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.5; done
echo "port $port answers on $MUSTER_HOST"
