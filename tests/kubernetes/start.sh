#!/usr/bin/env bash
# Starts a real Kubernetes on loopback: etcd, kube-apiserver, and unless told otherwise controllers, scheduler and kwok.
#   RUN=STATE_DIR start.sh [NODES]      wipes STATE_DIR; STATE_DIR/kubeconfig is the admin's
# Settings: API_PORT ETCD_PORT (free ones are taken by default), NO_KCM NO_SCHED NO_KWOK, KWOK_HOLD (pods keep running),
# LINE (1.35, 1.36 or 1.37: see build.sh) GATES RUNTIME APISERVER_ARGS KCM_ARGS ETCD_ARGS. etcd syncs as in production; ETCD_ARGS=--unsafe-no-fsync is quicker, but never
# compare speeds with it. stop.sh ends what this started, by pid.
set -euo pipefail
nodes=${1:-0}
here=$(cd "$(dirname "$0")" && pwd)
run=${RUN:?state directory, wiped}
needed=(etcd kube-apiserver kubectl)
[ -n "${NO_KCM:-}" ] || needed+=(kube-controller-manager)
[ -n "${NO_SCHED:-}" ] || needed+=(kube-scheduler)
[ -n "${NO_KWOK:-}" ] || needed+=(kwok)
bin=${BIN:-$("$here/build.sh" "${needed[@]}")}
free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
API_PORT=${API_PORT:-$(free_port)}
ETCD_PORT=${ETCD_PORT:-$(free_port)}
peer_port=$(free_port)
# What a release needs to serve gangs. A server does not start with a gate that it does not know.
case ${LINE:-1.36} in
  1.35) gates=GenericWorkload=true,GangScheduling=true group=v1alpha1 ;;
  1.36) gates=GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true,TopologyAwareWorkloadScheduling=true,WorkloadWithJob=false group=v1alpha2 ;;
  1.37) gates=GenericWorkload=true group=v1beta1 ;;
esac
GATES=${GATES:-$gates}
RUNTIME=${RUNTIME:-scheduling.k8s.io/$group=true}
rm -rf "$run"
mkdir -p "$run"/{pki,log,etcd,pid}
chmod 700 "$run"
pki=$run/pki

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$1.key" 2>/dev/null; }
certificate() { # name subject usage [names]
  key "$1"
  openssl req -new -key "$pki/$1.key" -subj "$2" -out "$pki/$1.csr" 2>/dev/null
  printf 'extendedKeyUsage=%s\n%s' "$3" "${4:+subjectAltName=$4
}" >"$pki/$1.ext"
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 30 -extfile "$pki/$1.ext" -out "$pki/$1.crt" 2>/dev/null
}
key ca
openssl req -x509 -new -key "$pki/ca.key" -subj /CN=test-ca -days 30 -out "$pki/ca.crt" 2>/dev/null
certificate apiserver /CN=kube-apiserver serverAuth IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc
certificate admin /O=system:masters/CN=admin clientAuth
certificate alice /CN=alice clientAuth
certificate kcm /CN=kube-controller-manager serverAuth IP:127.0.0.1,DNS:localhost
openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
cat >"$run/kubeconfig" <<K
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$API_PORT", certificate-authority-data: $(base64 -w0 <"$pki/ca.crt")}}]
users: [{name: admin, user: {client-certificate-data: $(base64 -w0 <"$pki/admin.crt"), client-key-data: $(base64 -w0 <"$pki/admin.key")}}]
contexts: [{name: c, context: {cluster: c, user: admin}}]
current-context: c
K
background() {
  local name=$1
  shift
  setsid nohup "$@" >"$run/log/$name.log" 2>&1 &
  echo $! >"$run/pid/$name"
}
wait_for() { # tries command...
  local tries=$1
  shift
  for _ in $(seq "$tries"); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
  echo "gave up waiting for: $*" >&2
  return 1
}
background etcd "$bin/etcd" --data-dir "$run/etcd" --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
  --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
  --initial-cluster "default=http://127.0.0.1:$peer_port" --quota-backend-bytes 8589934592 --log-level warn ${ETCD_ARGS:-}
background apiserver "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$ETCD_PORT" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$API_PORT" \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
  --service-cluster-ip-range 10.96.0.0/16 --authorization-mode RBAC --allow-privileged --endpoint-reconciler-type none \
  --feature-gates "$GATES" --runtime-config "$RUNTIME" ${APISERVER_ARGS:-}
ready() { curl -sf --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" "https://127.0.0.1:$API_PORT/readyz"; }
wait_for 600 ready || { tail -n 5 "$run/log/apiserver.log" >&2; exit 1; }
export KUBECONFIG=$run/kubeconfig
[ -n "${NO_KCM:-}" ] || background kcm "$bin/kube-controller-manager" --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
  --bind-address 127.0.0.1 --secure-port "$(free_port)" --tls-cert-file "$pki/kcm.crt" --tls-private-key-file "$pki/kcm.key" --root-ca-file "$pki/ca.crt" \
  --service-account-private-key-file "$pki/sa.key" --leader-elect=false --node-monitor-grace-period 10m --feature-gates "$GATES" \
  --kube-api-qps 500 --kube-api-burst 500 --concurrent-gc-syncs 20 ${KCM_ARGS:-}
if [ -z "${NO_SCHED:-}" ]; then
  cat >"$run/scheduler.yaml" <<K
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: $KUBECONFIG, qps: 5000, burst: 5000}
K
  background scheduler "$bin/kube-scheduler" --config "$run/scheduler.yaml" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
    --bind-address 127.0.0.1 --secure-port "$(free_port)" --tls-cert-file "$pki/kcm.crt" --tls-private-key-file "$pki/kcm.key" --feature-gates "$GATES"
fi
if [ -z "${NO_KWOK:-}" ]; then
  RUN=$run BIN=$bin KUBECONFIG=$KUBECONFIG "$here/start_kwok.sh"
fi
if [ "$nodes" -gt 0 ]; then
  for i in $(seq 0 $((nodes - 1))); do
    cat <<N
---
apiVersion: v1
kind: Node
metadata: {name: node-$i, labels: {kubernetes.io/hostname: node-$i, type: kwok}, annotations: {kwok.x-k8s.io/node: fake}}
status: {allocatable: {cpu: "64", memory: 256Gi, pods: "256"}, capacity: {cpu: "64", memory: 256Gi, pods: "256"}}
N
  done >"$run/nodes.yaml"
  "$bin/kubectl" create -f "$run/nodes.yaml" >"$run/log/nodes.log"
fi
[ -n "${NO_KCM:-}" ] || wait_for 300 "$bin/kubectl" get serviceaccount default
echo "$KUBECONFIG"
