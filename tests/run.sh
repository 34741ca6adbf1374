#!/usr/bin/env bash
# The black-box suites: recorded answers of a real API server (conformance), kubectl, kwok; without arguments also reliability and
# hostile input (docs/reliability.md). They talk to the built binary only.
#   run.sh [PYTEST ARGUMENT...]      MUSTER: the binary, build/release/muster by default
# Without arguments the files run side by side, each with servers, ports and folders of its own.
set -euo pipefail
cd "$(dirname "$0")"
export MUSTER=${MUSTER:-$(cd .. && pwd)/build/release/muster}
[ -x "$MUSTER" ] || { echo "$MUSTER is not there: scripts/build.sh release muster" >&2; exit 1; }
names=(kubectl kwok)
[ $# -gt 0 ] || names=() # all, so that no two files build the same
KUBERNETES_BIN=${KUBERNETES_BIN:-$(kubernetes/build.sh "${names[@]}")}
export KUBERNETES_BIN PYTHONDONTWRITEBYTECODE=1
python=$(./python.sh)
# What a shell starts in the background ignores SIGINT, or under nohup SIGHUP, and so would the programs that the tests interrupt.
listening=(env --default-signal=HUP,INT)
[ $# -eq 0 ] || exec "${listening[@]}" "$python" -m pytest "$@"

go=$(kubernetes/go.sh)
go_suites() {
  local status=0
  for suite in reliability hostile; do
    (cd "$suite" && "$go" vet ./... && "${listening[@]}" "$go" test -count=1 -timeout 30m ./...) || status=1
  done
  return $status
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
go_suites >"$log" 2>&1 &
status=0
# Three files at a time: they wait for processes more than they compute.
"${listening[@]}" "$python" -m pytest -n 3 --dist loadfile --no-loadscope-reorder || status=1
wait $! || status=1
cat "$log"
exit $status
