#!/usr/bin/env bash
# Every scenario in the simulation, with controllers that list and watch and with controllers that read the store's feed: they die
# before and after each single write, with a fresh and a stale cache (R8), and meet random faults of many seeds (R9, R10). A failed
# run is printed with the command that repeats it.
#   run.sh      MUSTER: the binary, build/release/muster by default; MUSTER_SIM_RUNS: seeds per scenario, 20 by default
set -euo pipefail
cd "$(dirname "$0")/../.."
muster=${MUSTER:-build/release/muster}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
simulate() { printf '%s\n' tests/scenarios/*.yaml | xargs -P2 -I{} "$muster" sim {} "$@" | tee -a "$log" | sed "/^[0-9]* runs/d"; }
status=0
simulate --crash-points || status=1
simulate --crash-points --seed 2 || status=1
simulate --faults --runs "${MUSTER_SIM_RUNS:-20}" || status=1
simulate --reads feed --crash-points || status=1
simulate --reads feed --faults --runs "${MUSTER_SIM_RUNS:-20}" || status=1
awk '/^[0-9]+ runs, /{runs += $1; failed += $3} END {printf "sim: %d runs, %d failed\n", runs, failed; exit failed > 0}' "$log" || status=1
exit $status
