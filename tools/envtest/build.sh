#!/usr/bin/env bash
# Builds the programs that tests use, once per version, in the order in which most tests need them. Arguments: only these of them. See README.md.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'envtest: %s\n' "$*"; }
fail() { printf 'envtest: %s\n' "$*" >&2; exit 1; }

# required_version GO_MOD MODULE -> the version of MODULE in GO_MOD's requirements, such as v1.36.3
required_version() {
  awk -v module="$2" '$1 == "replace" { exit } $1 == "require" { sub(/^require[ \t]+/, "") } $1 == module { print $2; exit }' "$1"
}

# go_line GO_MOD -> the oldest Go version that can build it, such as 1.26.0
go_line() { awk '$1 == "go" { print $2; exit }' "$1"; }

# require_go VERSION: fails, with the remedy, if Go is missing or older than VERSION
require_go() {
  local found remedy="install Go $1 or newer (https://go.dev/doc/install), or set KUBEBUILDER_ASSETS to a directory with the binaries"
  command -v go >/dev/null || fail "go not found; $remedy"
  # Runs outside the modules: inside, an older Go fails instead of printing its version.
  found=$(cd / && GOTOOLCHAIN=local go env GOVERSION | sed -n 's/^[^0-9]*\([0-9][0-9.]*\).*/\1/p')
  [[ $(printf '%s\n' "$1" "${found:-0}" | sort -V | head -n 1) == "$1" ]] || fail "Go ${found:-?} is too old; $remedy"
}

all=(etcd kube-apiserver kube-controller-manager kubectl helm promtool)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog
os=$(uname -s | tr '[:upper:]' '[:lower:]')
arch=$(uname -m | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')
kubernetes_version=$(required_version "$here/kubernetes/go.mod" k8s.io/kubernetes)
etcd_version=$(required_version "$here/kubernetes/go.mod" go.etcd.io/etcd/server/v3)
assets=${KUBEBUILDER_ASSETS:-$cache/envtest/$kubernetes_version-$etcd_version-$os-$arch}

# Linker flags with the version that `--version` and `kubectl version` print and that /version serves.
kubernetes_stamps() {
  local number=${kubernetes_version#v} package
  local major=${number%%.*} rest=${number#*.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s -X %s.gitTreeState=clean ' \
      "$package" "$kubernetes_version" "$package" "$major" "$package" "${rest%%.*}" "$package"
  done
}

# describe NAME: sets where the program is, and how it is built: in our module, or in its own (upstream)
describe() {
  directory=$assets package=k8s.io/kubernetes/cmd/$1 upstream= ldflags='-s -w' tags=
  case $1 in
    etcd) package=go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kubectl) ldflags="$ldflags $(kubernetes_stamps)" ;;
    helm) upstream=helm.sh/helm/v4 ;;
    # remove_all_sd leaves out service discovery with its clients of cloud providers.
    promtool) upstream=github.com/prometheus/prometheus tags=remove_all_sd ;;
    *) fail "no program $1; there are ${all[*]}" ;;
  esac
  [[ -z $upstream ]] || package=./cmd/$1 directory=$cache/$1/$(required_version "$here/upstream/go.mod" "$upstream")
}

# source_of MODULE -> the directory with its source, which go.sum has verified
source_of() { cd "$here/upstream" && GOWORK=off go mod download "$1" && GOWORK=off go list -m -f '{{.Dir}}' "$1"; }

missing_of() {
  local name
  for name in "$@"; do
    describe "$name"
    [[ -x $directory/$name ]] || echo "$name"
  done
}

# build NAME. The rename makes a program appear complete or not at all.
build() {
  local started=$SECONDS module=$here/kubernetes
  describe "$1"
  [[ $directory != "${KUBEBUILDER_ASSETS:-}" ]] || fail "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, which lacks $1"
  [[ -z $upstream ]] || module=$(source_of "$upstream")
  require_go "$(go_line "$module/go.mod")"
  mkdir -p "$directory"
  unfinished=$directory/$1.$$.unfinished
  (cd "$module" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOOS=$os GOARCH=$arch \
    go build -mod=readonly -trimpath -tags "$tags" -ldflags "$ldflags" -o "$unfinished" "$package") || fail "building $1 failed"
  mv -f "$unfinished" "$directory/$1"
  say "$1 built in $((SECONDS - started)) s"
}

# The lock prevents a second build at the same time. Without flock there may be two, and the last rename wins.
lock() {
  mkdir -p "$cache"
  command -v flock >/dev/null || return 0
  exec 9>"$cache/.lock"
  flock --nonblock 9 || { say 'another build is running; waiting for it'; flock 9; }
}

[[ $# -gt 0 ]] || set -- "${all[@]}"
for name in "$@"; do describe "$name"; done
if [[ -n $(missing_of "$@") ]]; then
  lock
  unfinished=
  trap 'rm -f -- ${unfinished:+"$unfinished"}' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  missing=$(missing_of "$@")
  [[ -z $missing ]] || require_go "$(go_line "$here/kubernetes/go.mod")"
  say "building ${missing//$'\n'/, } (10 to 15 minutes the first time for all, on two cores)"
  # Where Go has a cache, some packages may be compiled. Otherwise nothing remains; a build that was interrupted continues with what it has compiled.
  [[ -d $(go env GOCACHE) ]] || export GOCACHE=$cache/go-build
  for name in $missing; do build "$name"; done
  [[ -n $(missing_of "${all[@]}") ]] || rm -rf -- "$cache/go-build"
fi
say "ready: $assets, $cache/helm, $cache/promtool"
