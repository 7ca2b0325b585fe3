# shellcheck shell=bash
# Sourced by build.sh of tools/helm and tools/promtool: builds a Go program for tests, once per version, into the cache of tools/envtest/build.sh.
# The version is only in the go.mod of the directory; go.sum pins the content.

# shellcheck source=tools/envtest/versions.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/envtest/versions.sh"

# build_program DIRECTORY NAME MODULE PACKAGE [FLAG...], with flags of go build. The rename makes the program appear complete or not at all.
build_program() {
  local here=$1 name=$2 package=$4 version directory started=$SECONDS
  say() { printf '%s: %s\n' "$name" "$*"; }
  fail() { say "$*" >&2; exit 1; }
  version=$(required_version "$here/go.mod" "$3")
  directory=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/$name/$version
  if [[ ! -x $directory/$name ]]; then
    require_go "$(go_line "$here/go.mod")"
    mkdir -p "$directory"
    unfinished=$directory/$name.$$.unfinished
    trap 'rm -f -- "$unfinished"' EXIT
    say "building $name $version (2 to 3 minutes the first time)"
    (cd "$here" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
      go build -mod=readonly -trimpath -ldflags '-s -w' "${@:5}" -o "$unfinished" "$package") || fail 'building failed'
    mv -f "$unfinished" "$directory/$name"
    say "built in $((SECONDS - started)) s"
  fi
  say "ready: $directory"
}
