#!/usr/bin/env bash
# Sets everything up and runs every test: style, unit tests under sanitizers, the black-box suites against the release binary and a
# real Kubernetes, fuzzing. All steps run, whatever fails; the closing lines of each are repeated at the end, and any failure makes
# the exit code 1. docs/testing.md says what each step proves.
#   test.sh [STEP...]     only these steps: style release sim asan blackbox clients tsan tidy package fuzz; output also in build/logs/STEP.log
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(style release sim asan blackbox clients tsan tidy package fuzz)
scripts/setup.sh test
wanted=15 room=$(($(df --output=avail -k . | tail -n 1) / 1024 / 1024))
[ "$room" -ge "$wanted" ] || echo "only $room GiB are free here; building and testing everything takes up to $wanted"
logs=build/logs
rm -rf "$logs"
mkdir -p "$logs"

# Of a build that works only the last line, of one that does not what went wrong.
build() {
  local log=$logs/build-$1.log
  scripts/build.sh "$@" >"$log" 2>&1 && tail -n 1 "$log" || { grep -A 30 -E '^FAILED|error:|Error' "$log" | head -n 200; return 1; }
}
# ctest's output in full only when something failed; its closing lines, and what was skipped, always.
ctest_in() {
  local log=build/$1/ctest.log
  ctest --test-dir "build/$1" --output-on-failure -j2 --timeout 600 >"$log" 2>&1 || { grep -vE ' Passed |^ +Start ' "$log" | tail -n 200; return 1; }
  grep -E '^[0-9]+% tests passed|^skipped: |^Total Test time' "$log"
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*Skipped.*/skipped: \1/p' "$log"
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
run_release() { build release muster; }
run_sim() { build release muster; tests/scenarios/run.sh; }
run_asan() { build asan; ctest_in asan; }
run_tsan() {
  build tsan "${threaded[@]}"
  printf '%s\n' "${threaded[@]}" | xargs -P2 -I{} bash -c 'threaded_test {}'
}
run_blackbox() { build release muster; tests/run.sh; }
run_clients() { tests/clients/run.sh; tests/client_library/run.sh; }
run_package() { build release muster; scripts/package.sh; }

# These run beside the other steps at the lowest priority: they take what is left of the processors, most of it while the black box
# waits for something.
declare -A beside=([tidy]=scripts/tidy.sh [fuzz]=scripts/fuzz.sh) started=()
start_beside() { # STEP
  [ "$1" != fuzz ] || scripts/fuzz.sh build >/dev/null 2>&1 || true # it fails again, in words, when it is run
  set -m # a process group of its own, to be ended as one
  nice -n 19 "${beside[$1]}" >"$logs/$1.log" 2>&1 &
  started[$1]=$!
  set +m
}
end_those_beside() { for step in "${!started[@]}"; do kill -- "-${started[$step]}" 2>/dev/null || true; done; }

status_of() { # STEP: runs it, or waits for it; its output is shown and kept
  if [ -n "${started[$1]:-}" ]; then
    wait "${started[$1]}"
    local status=$?
    cat "$logs/$1.log"
    return $status
  fi
  (set -e; "run_$1") 2>&1 | tee "$logs/$1.log"
  return "${PIPESTATUS[0]}"
}
closing_lines() { grep -hE '^[0-9]+% tests passed|^skipped: |^(ok|FAIL)[[:space:]]|^[0-9]+ (passed|failed)|^(style|sim|tsan|tidy|fuzz): ' "$logs/$1.log" | sed 's/^/    /'; }

trap end_those_beside EXIT
for step in "${steps[@]}"; do
  [ -n "${beside[$step]:-}" ] || continue
  echo "== $step starts in the background"
  start_beside "$step"
done
failed=() summary=
set +e # each step has it
for step in "${steps[@]}"; do
  began=$SECONDS verdict=passed
  echo "== $step"
  status_of "$step" # never in a condition: that would switch off its set -e
  [ $? = 0 ] || { verdict=FAILED; failed+=("$step"); }
  line="$step $verdict after $((SECONDS - began)) s"
  echo "== $line"
  summary+="$line"$'\n'$(closing_lines "$step")$'\n'
done
trap - EXIT
echo "== summary: $SECONDS s"
printf '%s' "$summary" | grep .
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
echo "all steps passed: ${steps[*]}"
