#!/usr/bin/env bash
# Sets everything up and builds build/<preset>/muster: of the release preset only that, of others the tests, too, unless targets are named.
#   build.sh [PRESET] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
[ "$preset" != release ] || [ $# -gt 0 ] || set -- muster
case $preset in fuzz | tidy) scripts/setup.sh test ;; *) scripts/setup.sh build ;; esac
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" ${1:+--target "$@"}
