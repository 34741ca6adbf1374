#!/usr/bin/env bash
# Measures pods as local processes: the first log line, pods per second, JobSets of 1 and 64 pods, the start barrier; beside a bare
# clone/exec loop in the same namespaces, GNU parallel and HyperQueue in the same run. docs/benchmarks.md has the results.
#   run.sh [--quick]       --quick: a smoke test with few pods
# Settings: MUSTER the binary (build/release/muster).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export MUSTER=${MUSTER:-$root/build/release/muster}
[ -x "$MUSTER" ] || { echo "$MUSTER is not there: scripts/build.sh release muster" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch" # pods have a user of their own
g++ -std=c++23 -O2 -static -o "$scratch/bare" "$here/bare.cc"
command -v parallel >/dev/null || apt-get install -y --no-install-recommends parallel >/dev/null 2>&1 || true
python=python3 # without HyperQueue
if python3 -m venv "$scratch/venv" >/dev/null 2>&1; then
  python=$scratch/venv/bin/python
  "$python" -m pip install -q hyperqueue >/dev/null 2>&1 || true
fi
cd "$scratch" # HyperQueue keeps outputs where it is started
BARE=$scratch/bare "$python" "$here/measure.py" "$@"
