#!/usr/bin/env bash
# Moves kubernetes/ or etcd/ to another version: rewrites its go.mod and go.sum; see README.md.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/envtest/versions.sh
source "$here/versions.sh"
export GOTOOLCHAIN=local GOWORK=off

usage() {
  echo "usage: update.sh kubernetes VERSION | update.sh etcd VERSION   (VERSION such as v1.36.3)" >&2
  exit 2
}

# upstream_mod MODULE VERSION -> the path of the module's own go.mod
upstream_mod() {
  local file
  file=$(cd / && go mod download -json "$1@$2" | sed -n 's/^[[:space:]]*"GoMod": "\(.*\)",\{0,1\}$/\1/p')
  [[ -n $file ]] || fail "no $1 $2"
  echo "$file"
}

# Kubernetes replaces its staging modules with folders of its own repository. Go applies replace directives of the main
# module only, so ours refers to the published versions of the same modules: those of v1.36.3 are published as v0.36.3.
staging_replacements() {
  awk -v version="v0.${version#v1.}" \
    '$2 == "=>" && $3 ~ /^\.\/staging\// { printf "\t%s => %s %s\n", $1, $1, version }' "$1"
}

kubernetes_mod() {
  cat <<MOD
// Builds kube-apiserver, kube-controller-manager and kubectl for tests; see ../README.md.
module dependency-watchdog/tools/envtest/kubernetes

go $(go_line "$1")

require k8s.io/kubernetes $version

tool (
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
	k8s.io/kubernetes/cmd/kubectl
)

replace (
$(staging_replacements "$1")
)
MOD
}

etcd_mod() {
  cat <<MOD
// Builds etcd for tests; see ../README.md.
module dependency-watchdog/tools/envtest/etcd

go $(go_line "$1")

require go.etcd.io/etcd/server/v3 $version

tool go.etcd.io/etcd/server/v3
MOD
}

[[ $# -eq 2 && $2 == v*.*.* ]] || usage
version=$2
case $1 in
  kubernetes) module=k8s.io/kubernetes ;;
  etcd) module=go.etcd.io/etcd/server/v3 ;;
  *) usage ;;
esac

require_go "$(go_line "$here/$1/go.mod")"
upstream=$(upstream_mod "$module" "$version")
require_go "$(go_line "$upstream")"

# Tidies in a temporary directory and copies both files together, so that a failure changes nothing.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
"$1_mod" "$upstream" >"$work/go.mod"
(cd "$work" && go mod tidy)
cp "$work/go.mod" "$work/go.sum" "$here/$1/"
say "$1 is at $version; next: tools/envtest/build.sh, then the tests under test/envtest"
