#!/usr/bin/env bash
# Builds promtool for the tests of metrics and alerts, once per version, into the cache that tools/envtest/build.sh builds into. The version is in
# go.mod and nowhere else; go.sum pins the content.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/envtest/versions.sh
source "$here/../envtest/versions.sh"
say() { printf 'promtool: %s\n' "$*"; }
fail() { printf 'promtool: %s\n' "$*" >&2; exit 1; }

version=$(required_version "$here/go.mod" github.com/prometheus/prometheus)
directory=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/promtool/$version
if [[ ! -x $directory/promtool ]]; then
  require_go "$(go_line "$here/go.mod")"
  mkdir -p "$directory"
  unfinished=$directory/promtool.$$.unfinished
  trap 'rm -f -- "$unfinished"' EXIT
  say "building promtool $version (3 minutes the first time)"
  started=$SECONDS
  # Without the clients of clouds, in which targets could be discovered.
  (cd "$here" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off \
    go build -mod=readonly -tags remove_all_sd -trimpath -ldflags '-s -w' -o "$unfinished" \
    github.com/prometheus/prometheus/cmd/promtool) || fail 'building failed'
  mv -f "$unfinished" "$directory/promtool"
  say "built in $((SECONDS - started)) s"
fi
say "ready: $directory"
