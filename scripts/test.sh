#!/usr/bin/env bash
# Sets everything up and runs every test: style, unit tests under sanitizers, fuzzing, and the black-box suites against the
# release binary and a real Kubernetes. docs/testing.md says what each step proves and how to run it alone.
#   test.sh [STEP...]     only these steps: style release asan blackbox clients tsan fuzz tidy package
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(style release asan blackbox clients tsan fuzz tidy package)
scripts/setup.sh test

# ctest's output in full only when something failed; its closing lines always.
ctest_in() {
  local log=build/$1/ctest.log
  ctest --test-dir "build/$1" --output-on-failure -j2 --timeout 600 >"$log" 2>&1 && tail -n 4 "$log" || { grep -vE ' Passed ' "$log" | tail -n 200; return 1; }
}
# What runs on more than one thread.
threaded=(base_test net_test store_test server_test client_test agent_test)

run_style() { scripts/style.sh; }
run_release() { scripts/build.sh release muster | tail -n 1; }
run_asan() { scripts/build.sh asan | tail -n 1; ctest_in asan; }
run_tsan() {
  scripts/build.sh tsan "${threaded[@]}" | tail -n 1
  local failed=0 test
  for test in "${threaded[@]}"; do
    "build/tsan/src/${test%_test}/$test" --gtest_brief=1 || failed=$((failed + 1))
  done
  echo "tsan: $((${#threaded[@]} - failed)) passed, $failed failed"
  [ $failed = 0 ]
}
run_tidy() { scripts/tidy.sh; }
run_fuzz() { scripts/fuzz.sh "${MUSTER_FUZZ_SECONDS:-20}"; }
run_blackbox() { scripts/build.sh release muster | tail -n 1; tests/run.sh; }
run_clients() { tests/clients/run.sh; tests/client_library/run.sh; }
run_package() { scripts/build.sh release muster | tail -n 1; scripts/package.sh; }

for step in "${steps[@]}"; do
  began=$SECONDS
  echo "== $step"
  "run_$step"
  echo "== $step took $((SECONDS - began)) s"
done
echo "all steps passed: ${steps[*]}"
