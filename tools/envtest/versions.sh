# shellcheck shell=bash
# Sourced by build.sh and update.sh. The versions are only in the go.mod files.

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
