#!/usr/bin/env bash
# The rules of the house that a machine can check: formatting, and who may read the clock, randomness and which library.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0
complain() { echo "style: $*" >&2; bad=1; }

mapfile -t sources < <(git ls-files 'src/*.cc' 'src/*.h' 'bench/*.cc' 'bench/*.h' 'tests/*.cc' 'tests/*.h')
clang-format-19 --dry-run --Werror "${sources[@]}" || complain "run scripts/format.sh"

# only FILES PATTERN WHY: the pattern appears in no other source file.
only() {
  local allowed=$1 pattern=$2 why=$3 file
  while IFS= read -r file; do
    [[ $file =~ $allowed ]] || complain "$file: $why"
  done < <(git grep -lE "$pattern" -- 'src/*.cc' 'src/*.h' || true)
}
only '^src/base/(clock|thread_time)\.cc$|^src/base/.*loop\.cc$|_test\.cc$|_bench\.cc$' 'system_clock::now|steady_clock::now|clock_gettime' 'only base/clock.cc and the loops read the clock'
only '^src/base/rng\.cc$' 'random_device|getrandom\(|std::rand\(' 'only base/rng.cc reads randomness'
only '^src/net/.*\.cc$' '#include <boost/' 'Boost is included by net/*.cc only'
only '^src/(net/.*|base/digest)\.cc$' '#include <openssl/' 'OpenSSL is included by net/*.cc and base/digest.cc only'
only '^src/(json/parse|api/decode/[a-z_]*)\.cc$' '#include <simdjson' 'simdjson is included by json/parse.cc and api/decode only'
only '^src/json/yaml\.cc$' '#include <yaml-cpp' 'yaml-cpp is included by json/yaml.cc only'
only '^src/base/log\.cc$' '#include <spdlog' 'spdlog is included by base/log.cc only'
only '^src/base/metrics\.cc$' '#include <prometheus' 'prometheus-cpp is included by base/metrics.cc only'
only '^src/cli/main\.cc$' '#include <CLI' 'CLI11 is included by cli/main.cc only'
only '^src/store/' '#include <sqlite3' 'SQLite is included by store/ only'
only '^src/cli/' '#include <iostream>|std::endl' 'no iostreams outside cli/'
while IFS= read -r file; do
  complain "$file: no using namespace in headers"
done < <(git grep -lE '^ *using namespace' -- 'src/*.h' || true)
while IFS= read -r file; do
  complain "$file: over 500 lines; one idea per file"
done < <(git ls-files 'src/*.cc' 'src/*.h' | xargs -r wc -l | awk '$1 > 500 && $2 != "total" {print $2}')
# Sanitizer builds merge the test files of a module.
while IFS= read -r file; do
  stem=$(basename "$file" .cc)
  grep -q '^int main(' "$file" || grep -qx "namespace $stem {" "$file" || complain "$file: its namespace is called $stem, not unnamed"
done < <(git ls-files 'src/*_test.cc')
scripts/layering.py || bad=1
scripts/spec_references.py || bad=1
[ $bad = 0 ] && echo "style: ${#sources[@]} files are in order"
exit $bad
