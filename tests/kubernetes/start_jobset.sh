#!/usr/bin/env bash
# Installs the Go JobSet controller's definitions and webhooks on a cluster that start.sh made and runs the controller beside it,
# with its own defaults except that it logs errors only. stop.sh ends it.
#   RUN=STATE_DIR BIN=DIR start_jobset.sh        BIN has kubectl and jobset
set -euo pipefail
run=${RUN:?} bin=${BIN:?}
here=$(cd "$(dirname "$0")" && pwd)
export KUBECONFIG=$run/kubeconfig
source=$(cd "$here/peers" && "$("$here/go.sh")" list -m -f '{{.Dir}}' sigs.k8s.io/jobset)
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
webhooks=$(free_port) health=$(free_port) metrics=$(free_port)
# The API server's certificate is for 127.0.0.1 and comes from the authority that the webhook configurations name: it serves both.
mkdir -p "$run/pki/jobset"
cp "$run/pki/apiserver.crt" "$run/pki/jobset/tls.crt"
cp "$run/pki/apiserver.key" "$run/pki/jobset/tls.key"
"$bin/kubectl" kustomize "$source/config/default" 2>/dev/null |
  "$("$here/../python.sh")" "$here/webhooks_by_url.py" "$run/pki/ca.crt" "$webhooks" >"$run/jobset.yaml"
"$bin/kubectl" apply --server-side -f "$run/jobset.yaml" >"$run/log/jobset-install.log"
cat >"$run/jobset-config.yaml" <<K
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
webhook: {host: 127.0.0.1, port: $webhooks, certDir: $run/pki/jobset}
metrics: {bindAddress: "127.0.0.1:$metrics", certDir: $run/pki/jobset}
health: {healthProbeBindAddress: "127.0.0.1:$health"}
K
setsid nohup "$bin/jobset" --kubeconfig "$KUBECONFIG" --config "$run/jobset-config.yaml" --zap-log-level error >"$run/log/jobset.log" 2>&1 &
echo $! >"$run/pid/jobset"
ready() { [ "$(curl -s "http://127.0.0.1:$health/readyz")" = ok ] && "$bin/kubectl" get jobsets; }
for _ in $(seq 300); do
  ! ready >/dev/null 2>&1 || exit 0
  sleep 0.2
done
tail -n 5 "$run/log/jobset.log" >&2
exit 1
