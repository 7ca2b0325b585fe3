#!/usr/bin/env bash
# Builds helm for the tests of the chart, once per version, into the cache that tools/envtest/build.sh builds into. The version is in go.mod and
# nowhere else; go.sum pins the content.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/envtest/versions.sh
source "$here/../envtest/versions.sh"
say() { printf 'helm: %s\n' "$*"; }
fail() { printf 'helm: %s\n' "$*" >&2; exit 1; }

version=$(required_version "$here/go.mod" helm.sh/helm/v4)
directory=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/helm/$version
if [[ ! -x $directory/helm ]]; then
  require_go "$(go_line "$here/go.mod")"
  mkdir -p "$directory"
  unfinished=$directory/helm.$$.unfinished
  trap 'rm -f -- "$unfinished"' EXIT
  say "building helm $version (2 minutes the first time)"
  started=$SECONDS
  (cd "$here" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
    go build -mod=readonly -trimpath -ldflags '-s -w' -o "$unfinished" helm.sh/helm/v4/cmd/helm) || fail 'building failed'
  mv -f "$unfinished" "$directory/helm"
  say "built in $((SECONDS - started)) s"
fi
say "ready: $directory"
