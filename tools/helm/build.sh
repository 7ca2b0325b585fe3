#!/usr/bin/env bash
# Builds helm for the tests of the chart.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/go-program.sh
source "$here/../go-program.sh"

build_program "$here" helm helm.sh/helm/v4 helm.sh/helm/v4/cmd/helm
