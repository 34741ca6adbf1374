#!/usr/bin/env bash
# Measures the Go JobSet controller and muster's on a real kube-apiserver + etcd, one after the other, each workload on a cluster of
# its own, and muster's whole stack in one process beside the whole Go stack. The benchmark itself plays the Job controller.
# docs/benchmarks.md has the results and says how to read them.
#   run.sh [--quick]         --quick: a smoke test with few Jobs
# Settings: SETS (500 JobSets of 2 × 2 Jobs), JOBS ("1000 5000", each one JobSet), MUSTER the binary (build/release/muster),
# RESULTS a folder to keep, BIN the binaries of Kubernetes and the Go controller.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
kubernetes=$root/tests/kubernetes
if [ "${1:-}" = --quick ]; then
  sets=${SETS:-20} jobs=${JOBS:-40}
else
  sets=${SETS:-500} jobs=${JOBS:-1000 5000}
fi
muster=${MUSTER:-$root/build/release/muster}
[ -x "$muster" ] || { echo "$muster is not there: scripts/build.sh release muster" >&2; exit 1; }
bin=${BIN:-$("$kubernetes/build.sh" etcd kube-apiserver kube-controller-manager kubectl jobset)}
go=$("$kubernetes/go.sh")
scratch=$(mktemp -d)
results=${RESULTS:-$scratch/results}
mkdir -p "$results"
run=$scratch/kubernetes
export KUBECONFIG=$run/kubeconfig
pid=
stop_muster() { [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid" || true; }; pid=; }
stop_kubernetes() { RUN=$run "$kubernetes/stop.sh"; }
finish() { stop_muster; stop_kubernetes; rm -rf "$scratch"; }
trap finish EXIT
(cd "$here" && "$go" build -o "$scratch/jobset" .)

# The audit log tells what each client asked for; the garbage collector is what foreground deletion waits for.
printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n' >"$scratch/audit.yaml"
start_kubernetes() {
  rm -f "$scratch/audit.log"
  RUN=$run BIN=$bin NO_SCHED=1 NO_KWOK=1 KCM_ARGS="--controllers=garbage-collector-controller,serviceaccount-controller" \
    APISERVER_ARGS="--audit-policy-file=$scratch/audit.yaml --audit-log-path=$scratch/audit.log --audit-log-maxsize=10000" \
    "$kubernetes/start.sh" 0 >"$scratch/started"
}
wait_for() { # seconds command...
  for _ in $(seq $((10 * $1))); do
    ! "${@:2}" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  echo "gave up waiting for: ${*:2}" >&2
  return 1
}
# New kinds are found every 30 seconds; before that the collector asks for each owner by itself.
collector_watches_jobsets() { grep '"verb":"watch"' "$scratch/audit.log" | grep '"resource":"jobsets"' | grep -q '"userAgent":"kube-controller-manager'; }

start_go() {
  RUN=$run BIN=$bin "$kubernetes/start_jobset.sh"
  controller=$(cat "$run/pid/jobset")
}
start_operator() {
  "$muster" install --print | "$bin/kubectl" apply --server-side -f - >"$scratch/installed"
  wait_for 60 "$bin/kubectl" get jobsets
  "$muster" operator --kubeconfig "$KUBECONFIG" --controllers jobset --no-leader-elect --manage-webhooks \
    --health-listen 127.0.0.1:0 >"$scratch/greeting" 2>>"$results/muster.log" &
  pid=$! controller=$!
  wait_for 60 grep -q 'health at' "$scratch/greeting"
  wait_for 60 curl -skf "$(sed 's/.*health at //' "$scratch/greeting")/readyz"
}
measure_controller() { # go|operator, user agent, name of the workload, Jobs that are made, command...
  start_kubernetes
  "start_$1"
  wait_for 120 collector_watches_jobsets
  local stack
  stack=$(cat "$run"/pid/{etcd,apiserver,kcm} | paste -sd,),$controller
  "$scratch/jobset" "${@:5}" -kubeconfig "$KUBECONFIG" -controller "$controller" -stack "$stack"
  "$scratch/jobset" requests "$scratch/audit.log" "$2" "$3" "$4"
  stop_muster
  stop_kubernetes
}
measure_all() { # go|operator, user agent
  measure_controller "$@" many $((4 * sets)) many -sets "$sets"
  for n in $jobs; do measure_controller "$@" "one/$n" $((2 * n)) one -jobs "$n"; done
}
measure_embedded() {
  "$muster" serve --data-dir "$scratch/data" --controllers '*,-job,-agent,-scheduler' --kubeconfig-out "$scratch/kubeconfig" \
    >"$scratch/greeting" 2>>"$results/muster.log" &
  pid=$!
  wait_for 60 grep -q 'muster serves' "$scratch/greeting"
  "$scratch/jobset" many -sets "$sets" -kubeconfig "$scratch/kubeconfig" -controller "$pid" -stack "$pid"
  stop_muster
}

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
measure_all go jobset/ >"$results/go"
echo "load between: $(cut -d' ' -f1-3 /proc/loadavg)"
measure_all operator muster >"$results/muster"
measure_embedded >"$results/embedded"
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "processors: $(nproc), JobSets: $sets, Jobs of one JobSet: $jobs"
echo
"$scratch/jobset" table "$results/go" "$results/muster" "$results/embedded"
