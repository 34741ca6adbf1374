#!/usr/bin/env bash
# clang-tidy over every source file but tests; any finding is an error. A file that was clean is not looked at again until it, a header
# that it includes or the rules change: the stamps lie outside the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
export stamps=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/tidy
mkdir -p "$stamps"
cmake --preset dev -B build/tidy -DCMAKE_CXX_COMPILER=clang++-19 >/dev/null
check() { # KEY FILE
  clang-tidy-19 -p build/tidy --quiet "$2" 2>/dev/null && touch "$stamps/$1" || { echo "tidy: $2" >&2; return 1; }
}
export -f check
git ls-files 'src/*.cc' | grep -vE '_(test|fuzz|bench)\.cc$' | scripts/content_keys.py .clang-tidy cmake/muster.cmake scripts/tidy.sh |
  while read -r key file; do [ -e "$stamps/$key" ] || echo "$key $file"; done >build/tidy/unchecked
xargs -r -P2 -L1 bash -c 'check "$@"' check <build/tidy/unchecked || { echo "tidy: findings above" >&2; exit 1; }
echo "tidy: clean, $(wc -l <build/tidy/unchecked) files looked at"
