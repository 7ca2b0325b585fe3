#!/usr/bin/env bash
# Builds promtool for the tests of metrics and alerts.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/go-program.sh
source "$here/../go-program.sh"

# remove_all_sd leaves out service discovery with its clients of cloud providers.
build_program "$here" promtool github.com/prometheus/prometheus github.com/prometheus/prometheus/cmd/promtool -tags remove_all_sd
