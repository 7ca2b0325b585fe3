#!/usr/bin/env bash
# Builds kube-apiserver, kube-controller-manager, kubectl and etcd for tests, once per version; see README.md.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/envtest/versions.sh
source "$here/versions.sh"

binaries=(etcd kube-apiserver kube-controller-manager kubectl)
kubernetes_version=$(required_version "$here/kubernetes/go.mod" k8s.io/kubernetes)
etcd_version=$(required_version "$here/etcd/go.mod" go.etcd.io/etcd/server/v3)

platform() {
  local os arch
  os=$(uname -s | tr '[:upper:]' '[:lower:]')
  arch=$(uname -m)
  case $arch in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
  esac
  echo "$os-$arch"
}

# missing_in DIRECTORY -> the names of the missing binaries, on one line
missing_in() {
  local name names=()
  for name in "${binaries[@]}"; do [[ -x "$1/$name" ]] || names+=("$name"); done
  echo "${names[*]-}"
}

# Linker flags with the version that `--version` and `kubectl version` print and that /version serves.
kubernetes_stamps() {
  local number=${kubernetes_version#v} package
  local major=${number%%.*} rest=${number#*.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s -X %s.gitTreeState=clean ' \
      "$package" "$kubernetes_version" "$package" "$major" "$package" "${rest%%.*}" "$package"
  done
}

# build MODULE PACKAGE OUTPUT LDFLAGS. The rename makes a binary appear complete or not at all.
build() {
  local started=$SECONDS name=${3##*/}
  unfinished="$3.$$.unfinished"
  (cd "$here/$1" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off GOOS=${os_arch%-*} GOARCH=${os_arch#*-} \
    go build -mod=readonly -trimpath -ldflags "$4" -o "$unfinished" "$2") || fail "building $name failed"
  mv -f "$unfinished" "$3"
  say "$name built in $((SECONDS - started)) s"
}

build_missing() {
  local name
  for name in $(missing_in "$directory"); do
    case $name in
      etcd) build etcd go.etcd.io/etcd/server/v3 "$directory/$name" '-s -w' ;;
      *) build kubernetes "k8s.io/kubernetes/cmd/$name" "$directory/$name" "-s -w $(kubernetes_stamps)" ;;
    esac
  done
}

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  missing=$(missing_in "$KUBEBUILDER_ASSETS")
  [[ -z $missing ]] || fail "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, which lacks: $missing"
  say "nothing to build: KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS"
  exit
fi

os_arch=$(platform)
directory=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/envtest/$kubernetes_version-$etcd_version-$os_arch
# The lock prevents a second build at the same time. Without flock there may be two, and the last rename wins.
lock() {
  command -v flock >/dev/null || return 0
  exec 9>"$directory/.lock"
  flock --nonblock 9 || { say 'another build is running; waiting for it'; flock 9; }
}

if [[ -n $(missing_in "$directory") ]]; then
  require_go "$(printf '%s\n' "$(go_line "$here/kubernetes/go.mod")" "$(go_line "$here/etcd/go.mod")" | sort -V | tail -n 1)"
  mkdir -p "$directory"
  lock
  unfinished=
  trap 'rm -f -- ${unfinished:+"$unfinished"}' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  missing=$(missing_in "$directory")
  if [[ -n $missing ]]; then
    say "building Kubernetes $kubernetes_version and etcd $etcd_version (5 to 10 minutes the first time): $missing"
    started=$SECONDS
    build_missing
    say "built in $((SECONDS - started)) s"
  fi
fi
say "ready: $directory"
