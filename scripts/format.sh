#!/usr/bin/env bash
# Formats every source file of ours.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cc' '*.h' | xargs -r clang-format-19 -i
