#!/usr/bin/env bash
# Installs what building and testing muster needs on a Debian machine. Does nothing when it is there already.
#   setup.sh [build|test]      test adds the checkers (clang, Python)
set -euo pipefail
build=(build-essential cmake ninja-build pkg-config ccache mold git ca-certificates libboost1.81-dev libssl-dev
  libsimdjson-dev libyaml-cpp-dev libfmt-dev libspdlog-dev prometheus-cpp-dev libsqlite3-dev libcli11-dev libre2-dev
  libgtest-dev libgmock-dev libbenchmark-dev)
checks=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev lld-19 llvm-19 python3 python3-venv curl openssl iputils-ping
  crun runc busybox-static)
wanted=("${build[@]}")
[ "${1:-build}" = build ] || wanted+=("${checks[@]}")
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
