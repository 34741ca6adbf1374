#!/usr/bin/env bash
# Ends what start.sh started, by pid.   RUN=STATE_DIR stop.sh
set -u
run=${RUN:?state directory}
alive() { for f in "$run"/pid/*; do [ -f "$f" ] && kill -0 "$(cat "$f")" 2>/dev/null && return 0; done; return 1; }
for name in kueue jobset kwok scheduler kcm apiserver etcd; do
  [ -f "$run/pid/$name" ] && kill "$(cat "$run/pid/$name")" 2>/dev/null
done
for _ in $(seq 50); do alive || break; sleep 0.2; done
for f in "$run"/pid/*; do
  [ -f "$f" ] || continue
  kill -9 "$(cat "$f")" 2>/dev/null
  rm -f "$f"
done
exit 0
