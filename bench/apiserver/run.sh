#!/usr/bin/env bash
# Measures muster and a real kube-apiserver + etcd one after the other on this machine, with the same requests over TLS, both
# syncing to disk before they answer, and prints a table. docs/benchmarks.md has the results and says how to read them.
#   run.sh [--quick]        a few minutes; --quick: about one, shorter and with fewer Pods
# Settings: MUSTER the binary (build/release/muster), RESULTS a folder to keep, BIN the real server's binaries, SECONDS_EACH, PODS, MANY.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = --quick ]; then
  seconds=${SECONDS_EACH:-1.5} pods=${PODS:-2000} many=${MANY:-0}
else
  seconds=${SECONDS_EACH:-5} pods=${PODS:-10000} many=${MANY:-100000}
fi
muster=${MUSTER:-$root/build/release/muster}
[ -x "$muster" ] || { echo "$muster is not there: scripts/build.sh release muster" >&2; exit 1; }
bin=${BIN:-$("$root/tests/kubernetes/build.sh" etcd kube-apiserver)}
go=$("$root/tests/kubernetes/go.sh")
scratch=$(mktemp -d)
results=${RESULTS:-$scratch/results}
mkdir -p "$results"
pid=
stop_muster() { [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid" || true; }; pid=; }
stop_kubernetes() { RUN=$scratch/kubernetes "$root/tests/kubernetes/stop.sh"; }
finish() { stop_muster; stop_kubernetes; rm -rf "$scratch"; }
trap finish EXIT
(cd "$root/tests/reliability" && "$go" build -o "$scratch/load" ./load)
measure() { # command target pids [argument...]
  "$scratch/load" "$1" -kubeconfig "$2" -pids "$3" -seconds "$seconds" "${@:4}"
}

start_muster() { # folder
  rm -f "$scratch/kubeconfig"
  "$muster" serve --data-dir "$1" --controllers none --kubeconfig-out "$scratch/kubeconfig" >"$scratch/ready" 2>>"$scratch/muster.log" &
  pid=$!
}
restarted() { measure start "$scratch/kubeconfig" "$pid" | sed -n "s|^start\t|$1\t|p"; }
measure_muster() {
  start_muster "$scratch/a"
  measure start "$scratch/kubeconfig" "$pid"
  measure serve "$scratch/kubeconfig" "$pid" -pods "$pods"
  stop_muster
  start_muster "$scratch/a"
  restarted restart
  if [ "$many" -gt 0 ]; then
    measure fill "$scratch/kubeconfig" "$pid" -pods "$many"
    stop_muster
    start_muster "$scratch/a"
    restarted restart/many
  fi
  stop_muster
  rm -rf "$scratch/a"
  start_muster "$scratch/b"
  measure start "$scratch/kubeconfig" "$pid" >"$scratch/again"
  measure create "$scratch/kubeconfig" "$pid" -pods "$pods"
  stop_muster
  rm -rf "$scratch/b"
}

start_kubernetes() {
  RUN=$scratch/kubernetes BIN=$bin NO_KCM=1 NO_SCHED=1 NO_KWOK=1 "$root/tests/kubernetes/start.sh" 0 >"$scratch/started" 2>&1 &
  starter=$!
  for _ in $(seq 3000); do
    [ ! -s "$scratch/kubernetes/pid/apiserver" ] || break
    sleep 0.01
  done
  pids=$(cat "$scratch/kubernetes/pid/etcd"),$(cat "$scratch/kubernetes/pid/apiserver")
}
measure_kubernetes() {
  rm -rf "$scratch/kubernetes"
  start_kubernetes
  measure start "$scratch/kubernetes/kubeconfig" "$pids"
  wait "$starter"
  measure serve "$scratch/kubernetes/kubeconfig" "$pids" -pods "$pods"
  stop_kubernetes
  start_kubernetes
  measure start "$scratch/kubernetes/kubeconfig" "$pids" >"$scratch/again"
  wait "$starter"
  measure create "$scratch/kubernetes/kubeconfig" "$pids" -pods "$pods"
  stop_kubernetes
}

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
measure_muster >"$results/muster"
echo "load between: $(cut -d' ' -f1-3 /proc/loadavg)"
measure_kubernetes >"$results/kubernetes"
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
echo "processors: $(nproc), Pods: $pods${many:+, many: $many}"
echo
"$scratch/load" table "$results/muster" "$results/kubernetes"
