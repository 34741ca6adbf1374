#!/usr/bin/env bash
# Our client library against muster and against a real kube-apiserver: the same checks, over HTTPS.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/build.sh release muster client_check | tail -n 1
check=build/release/tests/client_library/client_check
scratch=$(mktemp -d)
build/release/muster serve --data-dir "$scratch/data" --controllers none >"$scratch/ready" &
muster=$!
export RUN=$scratch/kubernetes
trap 'kill $muster; tests/kubernetes/stop.sh; rm -rf "$scratch"' EXIT
for _ in $(seq 100); do [ -s "$scratch/ready" ] && break; sleep 0.1; done
echo "client library against muster"
"$check" "$scratch/data/kubeconfig"
echo "client library against kube-apiserver"
NO_KCM=1 NO_SCHED=1 NO_KWOK=1 ETCD_ARGS=--unsafe-no-fsync tests/kubernetes/start.sh >/dev/null
"$check" "$RUN/kubeconfig"
