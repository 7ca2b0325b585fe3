// Versions of the programs that are built in their own modules, with the versions that their authors chose; see ../README.md. Not for `go mod tidy`.
module dependency-watchdog/tools/envtest/upstream

go 1.26.0

require (
	github.com/prometheus/prometheus v0.315.1
	helm.sh/helm/v4 v4.3.1
)
