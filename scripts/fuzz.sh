#!/usr/bin/env bash
# Runs the fuzz targets, two at a time. First every input that ever was a finding (src/*/fuzz_findings/TARGET/*), then inputs that
# grow from the recorded traffic of a real API server; a finding fails, and its input is left in build/fuzz/findings.
#   fuzz.sh                         as in CI: MUSTER_FUZZ_SECONDS (60) each, always the same inputs for the same binary
#   fuzz.sh build                   only builds them
#   fuzz.sh SECONDS [TARGET...]     a search: other inputs every time, and what was reached is kept in the cache for the next one
set -euo pipefail
cd "$(dirname "$0")/.."
mode=$([ $# -eq 0 ] && echo replay || echo search)
only_build=
[ "${1:-}" != build ] || { only_build=yes; shift; }
seconds=${1:-${MUSTER_FUZZ_SECONDS:-60}}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(git ls-files 'src/*_fuzz.cc' | xargs -n1 basename -s .cc)
mkdir -p build/fuzz
scripts/build.sh fuzz "${targets[@]}" >build/fuzz/build.log 2>&1 || { tail -n 60 build/fuzz/build.log >&2; exit 1; }
[ -z "$only_build" ] || exit 0
findings=build/fuzz/findings seeds=build/fuzz/seeds
rm -rf "$seeds"
mkdir -p "$findings"
scripts/fuzz_seeds.py "$seeds" >/dev/null
# Where addresses are not the same in every run, nor is what libFuzzer learns from comparisons.
same_addresses=$(setarch -R true 2>/dev/null && echo "setarch -R" || true)

inputs_of() { find "$@" -type f 2>/dev/null | LC_ALL=C sort; }
fuzz() { # TARGET
  local binary log=$findings/$1.log known
  binary=$(find build/fuzz/src -name "$1" -type f -perm -u+x | head -n1)
  local options=(-rss_limit_mb=3000 -max_len=65536 -artifact_prefix="$findings/$1-")
  mapfile -t known < <(inputs_of src/*/fuzz_findings/"$1")
  if [ ${#known[@]} -gt 0 ] && ! "$binary" "${options[@]}" "${known[@]}" >"$log" 2>&1; then
    complain "$1" "$log" "a finding of before is back"
    return 1
  fi
  options+=(-max_total_time="$seconds")
  case $1 in admission_fuzz | decode_fuzz) options+=(-dict="$seeds/words") ;; esac
  if ! "explore_by_$mode" "$1" "$binary" "${options[@]}" >"$log" 2>&1; then
    complain "$1" "$log" "found something: $findings"
    return 1
  fi
  echo "fuzz: $1: $(grep -oE 'Done [0-9]+ runs' "$log") and ${#known[@]} findings of before, nothing found"
}
complain() { # TARGET LOG WHY
  tail -n 40 "$2" >&2
  echo "fuzz: $1: $3" >&2
}
# Nothing from outside the tree: a fixed seed, no corpus of before, none written that would be read again. Beside other work an input
# may have to wait for its processor, so that it is given long.
explore_by_replay() { # TARGET BINARY OPTION...
  local inputs
  inputs=$(inputs_of "$seeds/$1" | paste -sd,)
  printf %s "$inputs" >"$seeds/$1.list"
  $same_addresses "${@:2}" -timeout=300 -seed=1 -reload=0 ${inputs:+"-seed_inputs=@$seeds/$1.list"}
}
explore_by_search() { # TARGET BINARY OPTION...
  local corpus=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/corpus/$1 given=$seeds/$1
  mkdir -p "$corpus" "$given"
  "${@:2}" -timeout=20 "$corpus" "$given"
}
export findings seeds same_addresses mode seconds
export -f fuzz complain inputs_of explore_by_replay explore_by_search
printf '%s\n' "${targets[@]}" | xargs -P2 -I{} bash -c 'fuzz {}' || { echo "fuzz: findings above" >&2; exit 1; }
echo "fuzz: ${#targets[@]} targets, $seconds s each, nothing found"
