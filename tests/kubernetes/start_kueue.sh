#!/usr/bin/env bash
# Installs Kueue's definitions and webhooks on a cluster that start.sh made and runs the controller beside it, for batch Jobs and JobSets.
# Needs root: Kueue reads the certificates of its metrics from a fixed path below /etc, so it gets a view of /etc of its own. stop.sh ends it.
#   RUN=STATE_DIR BIN=DIR start_kueue.sh        BIN has kubectl and kueue
# Settings: KUEUE_CONFIG, lines that are added to its Configuration (kueue.x-k8s.io's config v1beta2).
set -euo pipefail
run=${RUN:?} bin=${BIN:?}
here=$(cd "$(dirname "$0")" && pwd)
export KUBECONFIG=$run/kubeconfig
source=$(cd "$here/peers" && "$("$here/go.sh")" list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
webhooks=$(free_port) health=$(free_port) metrics=$(free_port)
# The API server's certificate is for 127.0.0.1 and comes from the authority that the webhook configurations name: it serves both.
certificates=$run/etc/upper/kueue/metrics/certs
mkdir -p "$certificates" "$run/etc/work"
cp "$run/pki/apiserver.crt" "$certificates/tls.crt"
cp "$run/pki/apiserver.key" "$certificates/tls.key"
"$bin/kubectl" kustomize "$source/config/default" 2>/dev/null |
  "$("$here/../python.sh")" "$here/webhooks_by_url.py" "$run/pki/ca.crt" "$webhooks" workload,clusterqueue,localqueue,resourceflavor,cohort,job,jobset >"$run/kueue.yaml"
"$bin/kubectl" apply --server-side -f "$run/kueue.yaml" >"$run/log/kueue-install.log"
cat >"$run/kueue-config.yaml" <<K
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
webhook: {host: 127.0.0.1, port: $webhooks, certDir: $certificates}
metrics: {bindAddress: "127.0.0.1:$metrics"}
health: {healthProbeBindAddress: "127.0.0.1:$health"}
clientConnection: {qps: 300, burst: 500}
integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}
featureGates: {VisibilityOnDemand: false}
${KUEUE_CONFIG:-}
K
setsid nohup unshare -m bash -c 'mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/etc/upper,workdir=$1/etc/work" /etc && exec "$2" --kubeconfig "$3" --config "$1/kueue-config.yaml" --zap-log-level error' \
  _ "$run" "$bin/kueue" "$KUBECONFIG" >"$run/log/kueue.log" 2>&1 &
echo $! >"$run/pid/kueue"
ready() { [ "$(curl -s "http://127.0.0.1:$health/readyz")" = ok ] && "$bin/kubectl" get clusterqueues.kueue.x-k8s.io; }
for _ in $(seq 300); do
  ! ready >/dev/null 2>&1 || exit 0
  sleep 0.2
done
tail -n 5 "$run/log/kueue.log" >&2
exit 1
