#!/usr/bin/env bash
# Prints deploy/dependency-watchdog.yaml: the chart with its defaults, for those without Helm. Needs helm: tools/envtest/build.sh helm, or $HELM.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
version=$(awk '$1 == "helm.sh/helm/v4" { print $2 }' "$root/tools/envtest/upstream/go.mod")
helm=${HELM:-${XDG_CACHE_HOME:-$HOME/.cache}/dependency-watchdog/helm/$version/helm}

cat <<'END'
# The chart (deploy/chart) with its defaults, rendered by `make chart`. Needs the namespace garden, and your image in place of REPOSITORY:TAG:
#
#   sed s,REPOSITORY:TAG,registry.example.org/dependency-watchdog:1.0.0, dependency-watchdog.yaml | kubectl apply --server-side -f -
#
# To remove it, first restore what is held: dwd release --all --yes && kubectl delete -f dependency-watchdog.yaml
END
# No registry has the image, so the schema would refuse it. Hooks are Helm's alone, and so are the labels that say that Helm manages an object.
"$helm" template dependency-watchdog "$root/deploy/chart" --namespace garden --no-hooks --skip-schema-validation \
  --set image.repository=REPOSITORY,image.tag=TAG | sed -E '/^ +(app\.kubernetes\.io\/managed-by|helm\.sh\/chart): /d'
