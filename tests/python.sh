#!/usr/bin/env bash
# Prints the path of a Python that has pytest (with xdist) and the official Kubernetes client, making a virtual environment outside the tree
# when there is none yet.
set -euo pipefail
packages=(pytest==9.2.0 pytest-xdist==3.8.0 kubernetes==37.0.2)
cache=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}
venv=$cache/venv/$(echo "${packages[*]} $(python3 --version)" | sha256sum | cut -c1-16)
if [ ! -x "$venv/complete" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >&2
  install -m 755 /dev/null "$venv/complete"
fi
echo "$venv/bin/python"
