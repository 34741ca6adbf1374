#!/usr/bin/env bash
# Builds the JobSet project's own end-to-end suite, unmodified, and the runner that runs its specs side by side; prints the folder
# they are in. What was built before is not built again: the folder lies outside the tree, named after the module sums and the Go version.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
go=$("$here/../kubernetes/go.sh")
key=$( (cat "$here/go.mod" "$here/go.sum"; "$go" version) | sha256sum | cut -c1-16)
out=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/jobset_e2e/$key
mkdir -p "$out"
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
cd "$here"
if [ ! -x "$out/e2e.test" ]; then
  echo "building the JobSet end-to-end suite" >&2
  "$go" test -c -o "$out/e2e.new" sigs.k8s.io/jobset/test/e2e >&2
  mv "$out/e2e.new" "$out/e2e.test"
fi
if [ ! -x "$out/ginkgo" ]; then
  "$go" build -o "$out/ginkgo.new" github.com/onsi/ginkgo/v2/ginkgo >&2
  mv "$out/ginkgo.new" "$out/ginkgo"
fi
echo "$out"
