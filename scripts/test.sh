#!/usr/bin/env bash
# Sets everything up and runs every test: style, unit tests (plain and under sanitizers), fuzzing, and the black-box suites
# against the binary and a real Kubernetes. docs/testing.md says what each step proves and how to run it alone.
#   test.sh [STEP...]     only these steps: style unit asan tsan tidy fuzz blackbox clients
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(style unit tidy asan tsan fuzz blackbox clients)
scripts/setup.sh test

ctest_in() { ctest --test-dir "build/$1" --output-on-failure -j2 --timeout 600 | tail -n "${CTEST_LINES:-12}"; }

run_style() { scripts/style.sh; }
run_unit() { scripts/build.sh release && ctest_in release; }
run_asan() { scripts/build.sh asan && ctest_in asan; }
run_tsan() { scripts/build.sh tsan && ctest_in tsan; }
run_tidy() { scripts/tidy.sh; }
run_fuzz() { scripts/fuzz.sh "${MUSTER_FUZZ_SECONDS:-30}"; }
run_blackbox() { scripts/build.sh release muster && tests/run.sh; }
run_clients() { tests/clients/run.sh; }

for step in "${steps[@]}"; do
  began=$SECONDS
  echo "== $step"
  "run_$step"
  echo "== $step took $((SECONDS - began)) s"
done
echo "all steps passed: ${steps[*]}"
