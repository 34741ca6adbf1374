#!/usr/bin/env bash
# The first walkthrough with PyTorch: four processes, gloo, one all-reduce. A step of its own, because PyTorch takes 3 GB to download.
#   run.sh        MUSTER: the binary (build/release/muster); TORCH_VENV: where PyTorch is, or is to be, installed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
muster=${MUSTER:-$here/../../build/release/muster}
venv=${TORCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/muster/torch}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import torch' 2>/dev/null || "$venv/bin/pip" install -q torch numpy
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
cp "$here/train.py" "$scratch"
"$muster" example ddp >"$scratch/example.yaml"
sed "s|command: \[muster, tool, allreduce.*|command: [\"$venv/bin/python\", \"$scratch/train.py\"]|" "$scratch/example.yaml" >"$scratch/ddp.yaml"
! cmp -s "$scratch/example.yaml" "$scratch/ddp.yaml" || { echo "pytorch: the example has changed: its command was not found"; exit 1; }
# As who has PyTorch in his home.
"$muster" run --pod-user "$(id -un)" "$scratch/ddp.yaml" | tee "$scratch/out"
[ "$(grep -c 'of 4: the sum is 10$' "$scratch/out")" = 4 ] || { echo "pytorch: not every rank saw the sum"; exit 1; }
echo "pytorch: 4 ranks, one sum"
