#!/usr/bin/env bash
# clang-tidy over every source file but tests; any finding is an error. A file that was clean is not looked at again until it or any
# header or the rules change: the stamps lie outside the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
stamps=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/tidy
mkdir -p "$stamps"
# clang cannot read the precompiled headers of g++: what is in them (MUSTER_PCH) is included by name instead.
common_headers=$(sed -n '/^set(MUSTER_PCH/,/)/p' cmake/muster.cmake | grep -oE '<[^>]+>' | sed 's/<\(.*\)>/-include \1/' | tr '\n' ' ')
cmake --preset dev -B build/tidy -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_FLAGS="$common_headers" >/dev/null
common=$(cat .clang-tidy $(git ls-files 'src/*.h') | sha256sum | cut -c1-64)
check() {
  stamp=$stamps/$( (echo "$common"; cat "$1") | sha256sum | cut -c1-64)
  [ ! -e "$stamp" ] || return 0
  clang-tidy-19 -p build/tidy --quiet "$1" 2>/dev/null && touch "$stamp" || { echo "tidy: $1" >&2; return 1; }
}
export -f check
export stamps common
git ls-files 'src/*.cc' | grep -vE '_(test|fuzz|bench)\.cc$' | xargs -P2 -I{} bash -c 'check {}' || { echo "tidy: findings above" >&2; exit 1; }
echo "tidy: clean"
