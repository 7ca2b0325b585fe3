#!/usr/bin/env bash
# Builds the Go dependency-watchdog, to be measured beside ours: `make bench ARGS="--vs $(tools/go-dwd/build.sh)"`. Prints the path of the
# program, and nothing else on stdout. Needs Go and a module proxy; tests and releases need neither.
set -euo pipefail

module=github.com/gardener/dependency-watchdog
version=v1.5.0
# Of the module's content as https://sum.golang.org has it; the sums of what it depends on are in its go.sum.
sum=h1:MORMbQ8IJgISPWEhN8LROOUl9y2TnvWAH0bRuo8RDTY=

fail() { printf 'go-dwd: %s\n' "$*" >&2; exit 1; }

directory=${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/go-dwd/$version
program=$directory/dwd
if [[ ! -x $program ]]; then
  command -v go >/dev/null || fail 'go not found; install Go (https://go.dev/doc/install)'
  # The sum is checked here, so that no checksum database need be reached.
  export GONOSUMDB=$module GOWORK=off
  found=$(cd / && go mod download -json "$module@$version") || fail "downloading $module@$version failed: $found"
  [[ $found == *"\"Sum\": \"$sum\""* ]] || fail "$module@$version is not what it should be, $sum: $found"
  source=$(printf '%s' "$found" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  printf 'go-dwd: building %s %s (minutes)\n' "$module" "$version" >&2
  mkdir -p "$directory"
  (cd "$source" && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$program.$$" .) >&2 || fail 'building failed'
  mv -f "$program.$$" "$program"
fi
printf '%s\n' "$program"
