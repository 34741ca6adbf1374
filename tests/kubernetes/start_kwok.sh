#!/usr/bin/env bash
# Starts kwok, unmodified, against any API server: nodes become ready, pods run and (unless KWOK_HOLD is set) those of Jobs complete.
# KWOK_POD_STAGES names a file whose stages take the place of all that.
#   RUN=STATE_DIR BIN=DIR KUBECONFIG=FILE start_kwok.sh
set -euo pipefail
run=${RUN:?} bin=${BIN:?} config=${KUBECONFIG:?}
mkdir -p "$run/log" "$run/pid"
stages=(node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease)
if [ -z "${KWOK_POD_STAGES:-}" ]; then
  stages+=(pod/fast/pod-ready pod/fast/pod-delete)
  [ -n "${KWOK_HOLD:-}" ] || stages+=(pod/fast/pod-complete)
fi
for stage in "${stages[@]}"; do
  echo '---'
  cat "$bin/kwok-stages/$stage.yaml"
done >"$run/stages.yaml"
[ -z "${KWOK_POD_STAGES:-}" ] || { echo '---'; cat "$KWOK_POD_STAGES"; } >>"$run/stages.yaml"
port=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
setsid nohup "$bin/kwok" --kubeconfig "$config" --manage-all-nodes=true --node-ip 127.0.0.1 --cidr 10.0.0.0/8 \
  --server-address "127.0.0.1:$port" --config "$run/stages.yaml" --node-lease-duration-seconds 200 >"$run/log/kwok.log" 2>&1 &
echo $! >"$run/pid/kwok"
