#!/usr/bin/env bash
# Prints the path of a Go that is recent enough for Kubernetes 1.36, getting one if the machine has none: the toolchain is
# itself a Go module, so Debian's old Go can fetch it. It is kept outside the tree.
set -euo pipefail
wanted=1.26
exact=1.26.8
recent() { [ -x "$(command -v "$1")" ] && [ "$(printf '%s\n' "$wanted" "$("$1" env GOVERSION | sed 's/^go//')" | sort -V | head -n1)" = "$wanted" ]; }
cache=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}
mine=$cache/go/$exact/bin/go
for candidate in go /usr/local/go/bin/go "$mine"; do
  if recent "$candidate"; then command -v "$candidate"; exit 0; fi
done
if ! command -v go >/dev/null; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends golang-go >/dev/null
fi
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch"
export GOMODCACHE=$scratch/mod GOFLAGS=-mod=mod
go mod init scratch 2>/dev/null
go mod download "golang.org/toolchain@v0.0.1-go$exact.linux-amd64" >&2
mkdir -p "$cache/go"
cp -r "$scratch/mod/golang.org/toolchain@v0.0.1-go$exact.linux-amd64" "$cache/go/$exact.new"
chmod -R u+w "$cache/go/$exact.new"
chmod +x "$cache/go/$exact.new"/bin/* "$cache/go/$exact.new"/pkg/tool/*/*
mv "$cache/go/$exact.new" "$cache/go/$exact"
echo "$mine"
