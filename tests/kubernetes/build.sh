#!/usr/bin/env bash
# Builds a real Kubernetes control plane and the Go peers from the Go module registry and prints the folder they are in. What was
# built before is not built again: the folder lies outside the tree, named after the module sums and the Go version.
#   build.sh [NAME...]     etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok (all of these by default), jobset, kueue
# LINE chooses the release: 1.36 (1.36.3, by default), 1.35 (1.35.8, the last with scheduling.k8s.io/v1alpha1) or 1.37 (1.37.1, the first with
# v1beta1). A cold build takes 5 to 20 minutes of two cores.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- kubectl etcd kube-apiserver kube-controller-manager kube-scheduler kwok
go=$("$here/go.sh")
line=${LINE:-1.36}
case $line in
  1.35) version=v1.35.8 plane=control-plane-1.35 ;;
  1.36) version=v1.36.3 plane=control-plane ;;
  1.37) version=v1.37.1 plane=control-plane-1.37 ;;
  *) echo "LINE is 1.35, 1.36 or 1.37, not $line" >&2; exit 2 ;;
esac
key=$( (cat "$here/$plane/go.sum" "$here/peers/go.sum"; "$go" version) | sha256sum | cut -c1-16)
out=${MUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/muster}/kubernetes/$key
mkdir -p "$out"
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-buildvcs=false
v=k8s.io/component-base/version
flags="-s -w -X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=${line#1.} -X $v.gitTreeState=clean"
for name in "$@"; do
  [ ! -x "$out/$name" ] || continue
  case $name in
    etcd) module=$plane package=go.etcd.io/etcd/server/v3 ;;
    kube*) module=$plane package=k8s.io/kubernetes/cmd/$name ;;
    kwok) module=peers package=sigs.k8s.io/kwok/cmd/kwok ;;
    jobset) module=peers package=sigs.k8s.io/jobset ;;
    kueue) module=peers package=sigs.k8s.io/kueue/cmd/kueue ;;
    *) echo "unknown: $name" >&2; exit 2 ;;
  esac
  echo "building $name" >&2
  (cd "$here/$module" && "$go" build -ldflags "$flags" -o "$out/$name.new" "$package" >&2)
  mv "$out/$name.new" "$out/$name"
done
# kwok's stages (how its nodes and pods behave) are files of its module.
if [ -x "$out/kwok" ] && [ ! -d "$out/kwok-stages" ]; then
  stages=$(cd "$here/peers" && "$go" list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
  cp -r "$stages" "$out/kwok-stages.new" && chmod -R u+w "$out/kwok-stages.new" && mv "$out/kwok-stages.new" "$out/kwok-stages"
fi
echo "$out"
