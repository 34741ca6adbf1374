#!/usr/bin/env bash
# clang-tidy over all production code; any finding is an error. It reads the files that a MUSTER_UNITY build compiles: a header that many
# sources share is read once for all of them. What was clean is not checked again until one of its sources, a header that they include or
# the rules change: the stamps lie outside the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
export stamps=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/tidy
mkdir -p "$stamps"
cmake --preset tidy >/dev/null
check() { # KEY FILE
  clang-tidy-19 -p build/tidy --quiet --config-file=.clang-tidy "$2" 2>/dev/null && touch "$stamps/$1" || { echo "tidy: $2" >&2; return 1; }
}
export -f check
production_files() {
  sed -nE "s#^ *\"file\": \"$PWD/(.*\.cc)\".*#\1#p" build/tidy/compile_commands.json |
    grep -vE '_(test|fuzz|bench)\.cc$|_test_unit_[0-9]+\.cc$|^cmake/|^tests/' | sort -u
}
production_files | scripts/content_keys.py .clang-tidy cmake/muster.cmake scripts/tidy.sh |
  while read -r key file; do [ -e "$stamps/$key" ] || echo "$key $file"; done >build/tidy/unchecked
xargs -r -P2 -L1 bash -c 'check "$@"' check <build/tidy/unchecked || { echo "tidy: findings above" >&2; exit 1; }
echo "tidy: clean, $(wc -l <build/tidy/unchecked) of $(production_files | wc -l) units looked at"
