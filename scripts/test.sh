#!/usr/bin/env bash
# Sets everything up and runs every test: style, unit tests under sanitizers, the black-box suites against the release binary and a
# real Kubernetes, fuzzing. All steps run, whatever fails; the closing lines of each are repeated at the end, and any failure makes
# the exit code 1. docs/testing.md says what each step proves.
#   test.sh [STEP...]     only these steps: style release kubernetes blackbox clients package asan tsan sim tidy fuzz; output also in build/logs/STEP.log
#
# Steps run in three lanes side by side, because the black box mostly waits: `waiting` has the processors when it wants them,
# `working` takes what is left, `fuzzing` what nobody else wants.
set -euo pipefail
cd "$(dirname "$0")/.."
first=(style release)
declare -A lane=([waiting]="kubernetes blackbox clients package" [working]="asan sim tsan tidy" [fuzzing]="fuzz")
declare -A niceness=([waiting]=0 [working]=10 [fuzzing]=19)
all=("${first[@]}" ${lane[waiting]} ${lane[working]} ${lane[fuzzing]})
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=("${all[@]}")
for step in "${steps[@]}"; do
  case " ${all[*]} " in *" $step "*) ;; *) echo "no step is called $step; there are: ${all[*]}" >&2; exit 2 ;; esac
done
wanted() { case " ${steps[*]} " in *" $1 "*) ;; *) return 1 ;; esac; }

scripts/setup.sh test
enough=15 room=$(($(df --output=avail -k . | tail -n 1) / 1024 / 1024))
[ "$room" -ge "$enough" ] || echo "only $room GiB are free here; building and testing everything takes up to $enough"
logs=build/logs
rm -rf "$logs"
mkdir -p "$logs"

# Of a build that works only the last line, of one that does not what went wrong.
build() {
  local log=$logs/build-$1.log
  scripts/build.sh "$@" >"$log" 2>&1 && tail -n 1 "$log" || { grep -A 30 -E '^FAILED|error:|Error' "$log" | head -n 200; return 1; }
}
# ctest's output in full only when something failed; its closing lines always, and how many tests its programs ran and skipped.
ctest_in() {
  local log=build/$1/ctest.log status=0
  ctest --test-dir "build/$1" --output-on-failure -j2 --timeout 1200 >"$log" 2>&1 || status=1
  [ $status = 0 ] || grep -vE ' Passed |^ +Start ' "$log" | tail -n 200
  grep -E '^[0-9]+% tests passed|^Total Test time' "$log"
  awk '/^\[  PASSED  \]/ {passed += $4} /^\[  SKIPPED \]/ {skipped += $4} END {print "ctest: " passed " tests passed, " skipped + 0 " skipped in these programs"}' \
    "build/$1/Testing/Temporary/LastTest.log"
  sed -nE '/: Skipped$/{N;s/^(\.\.\/)*(.*): Skipped\n(.*)/skipped: \2: \3/p}' "build/$1/Testing/Temporary/LastTest.log"
  return $status
}
# What runs on more than one thread.
threaded=(store_test server_test net_test client_test agent_test agent_logs_test agent_exec_test agent_probes_test base_test)
threaded_test() {
  "$(find build/tsan/src -name "$1" -type f)" --gtest_brief=1 >"build/tsan/$1.log" 2>&1 && echo "tsan: $1: $(grep -F '[  PASSED  ]' "build/tsan/$1.log")" || {
    tail -n 200 "build/tsan/$1.log"
    echo "tsan: $1 failed"
    return 1
  }
}
export -f threaded_test

run_style() { scripts/style.sh; }
run_release() { build release muster client_check; }
run_kubernetes() { tests/kubernetes/build.sh; tests/jobset_e2e/build.sh; }
run_blackbox() { tests/run.sh; }
run_clients() { tests/clients/run.sh; tests/client_library/run.sh; }
run_package() { scripts/package.sh; }
run_asan() { build asan; ctest_in asan; }
run_sim() { tests/scenarios/run.sh; }
run_tsan() {
  build tsan "${threaded[@]}"
  printf '%s\n' "${threaded[@]}" | xargs -P2 -I{} bash -c 'threaded_test {}'
}
run_tidy() { scripts/tidy.sh; }
run_fuzz() { scripts/fuzz.sh; }

closing_lines() { grep -hE '^[0-9]+% tests passed|^skipped: |^(ok|FAIL)[[:space:]]|^[0-9]+ (passed|failed)|^(style|ctest|sim|tsan|tidy|fuzz): ' "$logs/$1.log" | sed 's/^/    /'; }
run_step() { # STEP: its output is kept, and shown when it has ended
  local began=$SECONDS verdict=passed
  echo "== $1 starts"
  (set -e; "run_$1") >"$logs/$1.log" 2>&1 # never in a condition: that would switch off its set -e
  [ $? = 0 ] || { verdict=FAILED; touch "$logs/failed"; }
  { echo "$1 $verdict after $((SECONDS - began)) s"; closing_lines "$1"; } >"$logs/$1.summary"
  flock "$logs" bash -c 'echo "== $1"; cat "$2/$1.log"; echo "== $(head -n 1 "$2/$1.summary")"' _ "$1" "$logs"
}
run_lane() { # LANE: in a process group of its own, to be ended as one
  renice -n "${niceness[$1]}" -p "$BASHPID" >/dev/null
  for step in ${lane[$1]}; do
    ! wanted "$step" || run_step "$step"
  done
}

set +e # each step has it
for step in "${first[@]}"; do
  # The steps of the first lane and the simulation use the release binary.
  if wanted "$step" || [ "$step" = release ]; then run_step "$step"; fi
done
lanes=()
end_lanes() { for each in "${lanes[@]}"; do kill -- "-$each" 2>/dev/null; done; }
trap end_lanes EXIT
set -m
for name in waiting working fuzzing; do
  run_lane "$name" &
  lanes+=($!)
done
set +m
wait
trap - EXIT
echo "== summary: $SECONDS s"
for step in "${all[@]}"; do [ ! -e "$logs/$step.summary" ] || cat "$logs/$step.summary"; done
[ ! -e "$logs/failed" ] || { echo "failed: $(grep -hoE '^[a-z]+ FAILED' "$logs"/*.summary | cut -d' ' -f1 | paste -sd' ')"; exit 1; }
echo "all steps passed: ${steps[*]}"
