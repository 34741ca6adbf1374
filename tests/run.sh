#!/usr/bin/env bash
# The black-box suites: recorded answers of a real API server (conformance), kubectl, kwok; without arguments also reliability and
# hostile input (docs/reliability.md). They talk to the built binary only.
#   run.sh [PYTEST ARGUMENT...]      MUSTER: the binary, build/release/muster by default
set -euo pipefail
cd "$(dirname "$0")"
export MUSTER=${MUSTER:-$(cd .. && pwd)/build/release/muster}
[ -x "$MUSTER" ] || { echo "$MUSTER is not there: scripts/build.sh release muster" >&2; exit 1; }
KUBERNETES_BIN=${KUBERNETES_BIN:-$(kubernetes/build.sh kubectl kwok)}
export KUBERNETES_BIN PYTHONDONTWRITEBYTECODE=1
python=$(./python.sh)
status=0
"$python" -m pytest "$@" || status=1
[ $# -eq 0 ] || exit $status
go=$(kubernetes/go.sh)
for suite in reliability hostile; do
  (cd "$suite" && "$go" vet ./... && "$go" test -count=1 -timeout 30m ./...) || status=1
done
exit $status
