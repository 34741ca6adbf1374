#!/usr/bin/env bash
# Makes the .deb and the tar bundle from build/release and tries both: the bundle with its own libraries only, the .deb's contents.
set -euo pipefail
cd "$(dirname "$0")/../build/release"
cpack >/dev/null 2>&1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf muster-*.tar.gz -C "$scratch" --strip-components=1
"$scratch/bin/muster" version
ldd "$scratch/bin/muster" | grep -vE "$scratch/|linux-vdso|/lib(c|m|dl|rt|pthread|resolv)\.so|ld-linux" && { echo "the bundle leans on libraries of this machine" >&2; exit 1; }
grep -q ' ./usr/bin/muster$' <<<"$(dpkg-deb -c muster_*.deb)"
ls -1 muster-*.tar.gz muster_*.deb
