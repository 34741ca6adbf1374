#!/usr/bin/env bash
# Sets everything up and builds one preset (release unless another is named): build/<preset>/muster.
#   build.sh [PRESET] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
case $preset in fuzz | tidy) scripts/setup.sh test ;; *) scripts/setup.sh build ;; esac
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" ${1:+--target "$@"}
