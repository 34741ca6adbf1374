#!/usr/bin/env bash
# Programs written with the official Go and Python clients, against the built binary.
#   run.sh [go|python]...      MUSTER: the binary, build/release/muster by default
set -euo pipefail
cd "$(dirname "$0")"
export MUSTER=${MUSTER:-$(cd ../.. && pwd)/build/release/muster}
[ -x "$MUSTER" ] || { echo "$MUSTER is not there: scripts/build.sh release muster" >&2; exit 1; }
[ $# -gt 0 ] || set -- go python

run_go() {
  local go
  go=$(../kubernetes/go.sh)
  export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
  (cd go && "$go" test -count=1 ./...)
}
run_python() {
  local python
  python=$(../python.sh)
  (cd .. && PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest clients/python)
}
status=0
for suite in "$@"; do "run_$suite" || status=1; done
exit $status
