#!/usr/bin/env bash
# Runs every fuzz target for a while, two at a time; a finding stops it and leaves the input in build/fuzz/findings.
#   fuzz.sh [SECONDS each, 60] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
scripts/build.sh fuzz >/dev/null
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(git ls-files 'src/*_fuzz.cc' | xargs -n1 basename -s .cc)
mkdir -p build/fuzz/findings
fuzz() {
  binary=$(find build/fuzz/src -name "$1" -type f -perm -u+x | head -n1)
  corpus=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/corpus/$1
  mkdir -p "$corpus"
  log=build/fuzz/findings/$1.log
  if "$binary" -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -max_len=65536 -artifact_prefix="build/fuzz/findings/$1-" "$corpus" >"$log" 2>&1; then
    echo "fuzz: $1: $(grep -oE 'Done [0-9]+ runs' "$log") without a finding"
  else
    tail -n 40 "$log" >&2
    echo "fuzz: $1 found something: build/fuzz/findings" >&2
    return 1
  fi
}
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P2 -I{} bash -c "fuzz {} $seconds"
